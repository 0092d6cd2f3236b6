// The live selector: a preference and a risk profile in, the choice out, at once.

const RISKS = {
  p2bb: ["most likely the best", "takes whoever is the best with the highest probability"],
  mean: ["highest on average", "takes the highest expected value"],
  quantile: ["safest", "takes the highest lower quantile: what is exceeded with probability 1 − γ"],
  regret: ["least regret", "takes whoever is expected to lose least against the best"],
};
const DISTRIBUTIONS = {
  uniform: "uniform: every budget counts the same",
  "log-uniform": "log-uniform: every order of magnitude counts the same",
  normal: "normal: known up to an error",
  lognormal: "log-normal: known up to a factor",
  triangular: "triangular: shortest, most likely, longest",
  exponential: "exponential: may be cut short at any moment",
  "worst-case": "worst case: the weakest time counts",
};

/** Rounded as a slider moves, but never off its ends. */
function rounded(value, low, high) {
  return Math.min(Math.max(Number(value.toPrecision(3)), low), high);
}

/** A slider with a box for the exact number beside it. */
function numberControl(id, label, { low, high, log, value, stops }, changed) {
  const steps = stops ? stops.length - 1 : 400;
  const isLog = log && low > 0;
  const toValue = (place) => {
    if (stops) return stops[place];
    const share = place / steps;
    return rounded(isLog ? low * (high / low) ** share : low + (high - low) * share, low, high);
  };
  const toPlace = (number) => {
    if (stops) {
      const gaps = stops.map((stop) => Math.abs(stop - number));
      return gaps.indexOf(Math.min(...gaps));
    }
    const share = isLog ? Math.log(number / low) / Math.log(high / low) : (number - low) / (high - low);
    return Math.round(steps * Math.min(Math.max(share, 0), 1)) || 0;
  };
  const box = element("input", { type: "number", id: `${id}-box`, step: "any", inputmode: "decimal", "aria-label": `${label}, exactly` });
  const slider = element("input", { type: "range", id, min: 0, max: Math.max(steps, 0), step: 1 });
  const control = {
    value,
    set(number) {
      control.value = number;
      box.value = typed(number);
      slider.value = toPlace(number);
      slider.setAttribute("aria-valuetext", budget(number));
    },
    row: element("div", { class: "control" }, element("label", { for: id }, label), slider, box),
  };
  slider.addEventListener("input", () => {
    control.set(toValue(Number(slider.value)));
    changed(control);
  });
  box.addEventListener("input", () => {
    const number = box.valueAsNumber;
    if (!Number.isFinite(number)) return;
    control.value = number;
    slider.value = toPlace(number);
    slider.setAttribute("aria-valuetext", budget(number));
    changed(control);
  });
  control.set(value);
  return control;
}

/** The controls of every kind of preference; read() gives its name and numbers. */
function preferenceControls(grid, changed) {
  const { times, joint } = grid;
  const [low, high] = [times[0], times[times.length - 1]];
  const log = grid.log || (low > 0 && high / low > 20);
  const span = high - low || Math.abs(high) || 1;
  const between = (share) => rounded(log && low > 0 ? low * (high / low) ** share : low + span * share, low, high);
  const time = { low, high, log };
  const nearest = (t) => times.reduce((a, b) => (Math.abs(b - t) < Math.abs(a - t) ? b : a));
  const at = [
    numberControl("budget", "Budget", { ...time, value: joint ? between(0.6) : nearest(between(0.6)), stops: joint ? null : times }, changed),
  ];
  const range = [];
  const ordering = (moved) => {
    const other = range.find((control) => control !== moved);
    if (range[0].value > range[1].value) other.set(moved.value);
    changed();
  };
  range.push(numberControl("range-from", "From", { ...time, value: between(0.35) }, ordering));
  range.push(numberControl("range-to", "To", { ...time, value: between(0.85) }, ordering));
  const width = (value) => ({ low: span / 500, high: span, log: true, value: Number(value.toPrecision(2)) });
  const parameters = {
    normal: [
      numberControl("normal-mean", "Mean", { ...time, value: between(0.6) }, changed),
      numberControl("normal-sd", "Standard deviation", width(span / 8), changed),
    ],
    lognormal: [
      numberControl("lognormal-median", "Median", { ...time, value: between(0.6) }, changed),
      numberControl("lognormal-sigma", "Standard deviation of the logarithm", { low: 0.05, high: 3, log: true, value: 0.7 }, changed),
    ],
    triangular: [
      numberControl("triangular-from", "Shortest", { ...time, value: between(0.25) }, changed),
      numberControl("triangular-mode", "Most likely", { ...time, value: between(0.6) }, changed),
      numberControl("triangular-to", "Longest", { ...time, value: between(0.95) }, changed),
    ],
    exponential: [
      numberControl("exponential-mean", "Mean", { ...time, value: between(0.6) }, changed),
    ],
  };
  return { at, between: range, ...parameters };
}

function radios(name, legend, options, changed) {
  const inputs = Object.entries(options).map(([value, [label, title]], i) =>
    element(
      "label",
      { title },
      element("input", { type: "radio", name, value, checked: i === 0, onchange: changed }),
      element("span", {}, label),
    ),
  );
  return element("fieldset", { class: "choices" }, element("legend", {}, legend), ...inputs);
}

function picked(name) {
  return document.querySelector(`input[name="${name}"]:checked`).value;
}

/** Build the selector, and answer at once. */
function startSelector(selector) {
  const posterior = posteriorOf(selector);
  const grid = { times: selector.times, joint: selector.joint, axis: PAGE.axis, log: PAGE.log_times };
  const place = byId("selector-controls");
  let chart = null;
  const answerNow = () => answer(true);
  const controls = preferenceControls(grid, answerNow);
  const distribution = element(
    "select",
    { id: "distribution", onchange: () => arrange() },
    Object.entries(DISTRIBUTIONS).map(([value, label]) => element("option", { value }, label)),
  );
  const distributionRow = element("div", { class: "control wide" }, element("label", { for: "distribution" }, "Distribution of the budget"), distribution);
  const rows = element("div", { class: "controls" });
  const gamma = numberControl("gamma", "γ, how much bad luck to guard against", { low: 0.01, high: 0.5, log: false, value: selector.gamma }, answerNow);
  const kinds = {
    at: ["One budget", "the budget is known"],
    between: ["A range", "it lies somewhere in a range"],
    distribution: ["A distribution", "it is known by its distribution"],
  };
  place.append(
    radios("kind", "What do you know about the budget?", kinds, () => arrange()),
    rows,
    radios("risk", "What makes a choice good?", RISKS, () => arrange()),
    gamma.row,
  );

  function wanted() {
    const kind = picked("kind");
    const name = kind === "distribution" ? distribution.value : kind;
    return preferenceOn(grid, name, (controls[name] || []).map((control) => control.value));
  }

  function arrange() {
    const kind = picked("kind");
    const name = kind === "distribution" ? distribution.value : kind;
    rows.replaceChildren(
      ...(kind === "distribution" ? [distributionRow] : []),
      ...(controls[name] || []).map((control) => control.row),
    );
    gamma.row.hidden = picked("risk") !== "quantile";
    answer(true);
  }

  function answer(redraw) {
    const preference = wanted();
    const risk = picked("risk");
    const safe = Number.isFinite(gamma.value) && gamma.value > 0 && gamma.value < 1;
    if (preference.problem || !safe) {
      showProblem(preference.problem || "γ must lie between 0 and 1");
    } else {
      const made = choose(posterior, preference, risk, gamma.value);
      showChoice(posterior, made, gamma.value, risk);
    }
    showCommand(selector, preference.text, risk, gamma.value);
    if (redraw && chart) update(chart);
  }

  arrange();
  const shares = bestOverTime(posterior);
  chart = addChart(byId("selector-chart"), "Probability of being the best over the budget", (view) =>
    selectorChart(view, posterior, shares, wanted(), picked("kind"), controls),
  );
  byId("selector-chart").addEventListener("click", (event) => {
    const axis = byId("selector-chart")._fullLayout?.xaxis;
    if (!axis || picked("kind") !== "at") return;
    const box = byId("selector-chart").getBoundingClientRect();
    const t = axis.p2d(event.clientX - box.left - axis._offset);
    if (t < grid.times[0] || t > grid.times[grid.times.length - 1]) return;
    controls.at[0].set(rounded(Number(t), grid.times[0], grid.times[grid.times.length - 1]));
    answer(true);
  });
  window.polarbear = { choose: (name, values, risk, level) => chosen(posterior, grid, name, values, risk, level) };
}

/** What scripts ask: the choice for a preference given by its name and numbers. */
function chosen(posterior, grid, name, values, risk, gamma) {
  const preference = preferenceOn(grid, name, values);
  if (preference.problem) return { problem: preference.problem };
  const made = choose(posterior, preference, risk, gamma);
  const ranking = made.ranking.map(({ item, p2bb, mean, quantile, regret }) => ({
    algorithm: posterior.items[item], p2bb, mean, quantile, regret,
  }));
  return { choice: made.choice, preference: preference.text, weights: preference.weights, ranking, notes: made.notes };
}

function showProblem(problem) {
  byId("choice").replaceChildren(element("p", { class: "problem" }, `No choice: ${problem}.`));
  byId("choice-table").replaceChildren();
  byId("choice-notes").replaceChildren();
}

function showChoice(posterior, made, gamma, risk) {
  const [first, second] = made.ranking;
  const name = (one) => posterior.items[one.item];
  const error = errorOf(first.p2bb, posterior);
  const lines = [
    element("p", { class: "chosen" }, labelled(name(first))),
    second
      ? element(
          "p",
          {},
          element("strong", {}, probability(first.p2bb)),
          ` likely to be the best (± ${small(error)}); expected regret `,
          element("strong", {}, small(first.regret)),
          `, or ${small(second.regret)} if you take `,
          nameElement(name(second)),
          " instead.",
        )
      : element("p", {}, "Nobody else competes."),
  ];
  byId("choice").replaceChildren(...lines);
  byId("choice-table").replaceChildren(choiceTable(posterior, made, gamma, risk));
  byId("choice-notes").replaceChildren(...made.notes.map((note) => element("li", {}, note)));
}

function choiceTable(posterior, made, gamma, risk) {
  const columns = [
    ["p2bb", "P(best)"],
    ["mean", "mean"],
    ["quantile", `quantile ${typed(gamma, 3)}`],
    ["regret", "regret"],
  ];
  const head = element("tr", {}, element("th", { scope: "col" }, "algorithm"), columns.map(([key, label]) =>
    element("th", { scope: "col", class: key === risk ? "number by" : "number" }, label)));
  const rows = made.ranking.map((one) => {
    const cells = columns.map(([key]) => {
      const text = one[key].toFixed(key === "p2bb" ? 3 : 4);
      const share = key === "p2bb" ? `--share: ${(100 * one.p2bb).toFixed(1)}%; --colour: var(--algorithm-${PAGE.algorithms.indexOf(posterior.items[one.item])})` : null;
      return element("td", { class: key === "p2bb" ? "number bar" : "number", style: share }, text);
    });
    return element("tr", {}, element("th", { scope: "row" }, labelled(posterior.items[one.item])), cells);
  });
  return element("table", {}, element("thead", {}, head), element("tbody", {}, rows));
}

function showCommand(selector, text, risk, gamma) {
  const level = risk === "quantile" ? ` --gamma ${typed(gamma, 4)}` : "";
  byId("command").textContent = `${selector.command} --preference "${text}" --risk ${risk}${level}`;
}

/** P(best) over budgets, with what is wanted shaded behind it. */
function selectorChart(view, posterior, shares, preference, kind, controls) {
  const { times, items } = posterior;
  const single = times.length === 1;
  const traces = [];
  const shapes = [];
  const weights = preference.weights;
  if (kind === "distribution" && weights && !single) {
    const density = weights.map((weight, i) => weight / ((times[Math.min(i + 1, times.length - 1)] - times[Math.max(i - 1, 0)]) / 2));
    const top = Math.max(...density);
    traces.push({ x: times, y: density.map((value) => value / top), mode: "lines", line: { width: 0 }, fill: "tozeroy", fillcolor: view.colour("shade"), hoverinfo: "skip" });
  }
  const line = { color: view.colour("text"), width: 1.5 };
  if (kind === "at") {
    const t = controls.at[0].value;
    shapes.push({ type: "line", x0: t, x1: t, y0: 0, y1: 1, yref: "paper", line });
  } else if (kind === "between") {
    const [start, stop] = controls.between.map((control) => control.value);
    shapes.push({ type: "rect", x0: start, x1: stop, y0: 0, y1: 1, yref: "paper", fillcolor: view.colour("shade"), line: { width: 0 }, layer: "below" });
  }
  items.forEach((name, item) => {
    if (!view.shows(name)) return;
    traces.push({
      x: times,
      y: shares[item],
      mode: times.length > 60 ? "lines" : "lines+markers",
      marker: { size: 5, color: view.of(name) },
      line: { color: view.of(name), dash: view.dash(name), width: 2.2 },
      customdata: times.map(() => plain(name)),
      hovertemplate: `%{customdata}<br>%{x:,.4~g} ${AXIS}<br>P(best) %{y:.3f}<extra></extra>`,
    });
  });
  const last = times.length - 1;
  const ends = items.map((name, item) => ({ name, y: shares[item][last] })).filter(({ name }) => view.shows(name));
  return {
    traces,
    layout: {
      height: view.narrow ? 280 : 340,
      margin: { l: 52, r: view.narrow ? 12 : 120, t: 12, b: 48 },
      xaxis: timeAxis(PAGE.log_times || times[last] / times[0] > 20),
      yaxis: { title: { text: "P(best)", standoff: 6 }, range: [-0.02, 1.02] },
      shapes,
      annotations: endLabels(view, ends, 0, 1, 270),
    },
  };
}
