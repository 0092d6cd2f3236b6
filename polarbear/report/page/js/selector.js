// The live selector: a preference and a risk profile in, the choice out, at once, with a table and the
// command that gives the same answer.

import { bestOnLog, timeAxis, timeLabel } from "./axes.js";
import { addChart, update } from "./charts.js";
import { bestOverTime, choose, errorOf, informationOf, posteriorOf } from "./choosing.js";
import { numberControl, pick, picked, preferenceControls, radios, rounded } from "./controls.js";
import { byId, element, labelled, nameElement, tableOf } from "./dom.js";
import { endLabels, labelOf, labelRoom, lineOf, silent, titled } from "./marks.js";
import { PAGE, say } from "./page.js";
import { addressOf, askedBy, preferenceOn } from "./preferences.js";
import { filled, pieces, typed } from "./wording.js";

const RISKS = {
  p2bb: ["most likely the best", "takes the algorithm with the highest probability of being the best"],
  mean: ["highest on average", "takes the highest expected value"],
  quantile: ["safest", "takes the highest lower quantile: what is exceeded with probability 1 − γ"],
  regret: ["least regret", "takes the algorithm with the lowest expected loss against the best"],
};
const KINDS = {
  at: ["One budget", "the budget is known"],
  between: ["A range", "it lies somewhere in a range"],
  distribution: ["A distribution", "it is known by its distribution"],
};
const DISTRIBUTIONS = {
  uniform: "uniform: every budget counts the same",
  "log-uniform": "log-uniform: every factor of ten counts the same",
  normal: "normal: known up to an error",
  lognormal: "log-normal: known up to a factor",
  triangular: "triangular: shortest, most likely, longest",
  exponential: "exponential: may be cut short at any moment",
  "worst-case": "worst case: the weakest time counts",
};

/** Build the selector, and answer at once. */
export function startSelector(selector) {
  const posterior = posteriorOf(selector, say);
  const { times } = posterior;
  const [first, last] = [times[0], times.at(-1)];
  let chart = null;
  const controls = preferenceControls(posterior, changed);
  const distribution = element(
    "select",
    { id: "distribution", onchange: changed },
    Object.entries(DISTRIBUTIONS).map(([value, label]) => element("option", { value }, label)),
  );
  const label = element("label", { for: "distribution" }, "Distribution of the budget");
  const distributionRow = element("div", { class: "control wide" }, label, distribution);
  const rows = element("div", { class: "controls" });
  const levels = { low: 0.01, high: 0.5, log: false, value: selector.gamma };
  const gamma = numberControl("gamma", "γ, how much bad luck to guard against", levels, changed);
  byId("selector-controls").append(
    radios("kind", "What do you know about the budget?", KINDS, changed),
    rows,
    radios("risk", "What makes a choice good?", RISKS, changed),
    gamma.row,
  );

  /** What is asked: the name and the numbers of a preference, and a risk profile. */
  function asked() {
    const name = picked("kind") === "distribution" ? distribution.value : picked("kind");
    const values = (controls[name] || []).map((control) => control.value);
    return { name, values, risk: picked("risk"), gamma: gamma.value };
  }

  const wanted = () => preferenceOn(posterior, asked().name, asked().values);

  /** A reader has changed something: answer, and keep it in the address. */
  function changed() {
    answer();
    history.replaceState(null, "", addressOf(asked()));
  }

  /** Ask what the address asks, as far as that can be meant. */
  function ask({ name, values, risk, gamma: level }) {
    const kind = name in DISTRIBUTIONS ? "distribution" : name;
    if (!(kind in KINDS)) return;
    pick("kind", kind);
    if (kind === "distribution") distribution.value = name;
    (controls[name] || []).forEach((control, i) => values[i] !== undefined && control.set(values[i]));
    if (risk in RISKS) pick("risk", risk);
    if (level > 0 && level < 1) gamma.set(level);
  }

  function answer() {
    const { name, risk } = asked();
    const parameters = (controls[name] || []).map((control) => control.row);
    const shown = picked("kind") === "distribution" ? [distributionRow, ...parameters] : parameters;
    if (shown.length !== rows.children.length || shown.some((row, i) => row !== rows.children[i])) {
      rows.replaceChildren(...shown); // only where they change: a control in use keeps the focus
    }
    gamma.row.hidden = risk !== "quantile";
    const preference = wanted();
    const safe = gamma.value > 0 && gamma.value < 1;
    if (preference.problem || !safe) {
      showProblem(preference.problem || "γ must lie between 0 and 1");
    } else {
      const made = choose(posterior, preference, risk, gamma.value);
      showChoice(posterior, made, gamma.value, risk, name);
      showGain(posterior, informationOf(made.ranking));
    }
    showCommand(selector, preference.text, risk, gamma.value);
    if (chart) update(chart);
  }

  const visit = () => {
    const asks = askedBy(location.hash);
    if (asks) ask(asks);
    answer();
    if (asks) byId("choose").scrollIntoView();
  };
  visit();
  addEventListener("hashchange", () => askedBy(location.hash) && visit());
  const shares = bestOverTime(posterior);
  const place = byId("selector-chart");
  chart = addChart(place, `${PAGE.words.p_best} over the budget`, (view) =>
    selectorChart(view, posterior, shares, wanted(), asked()),
  );
  place.addEventListener("click", (event) => {
    const axis = place._fullLayout?.xaxis;
    if (!axis || picked("kind") !== "at") return;
    const t = axis.p2d(event.clientX - place.getBoundingClientRect().left - axis._offset);
    if (t < first || t > last) return;
    controls.at[0].set(rounded(Number(t), first, last));
    changed();
  });
  globalThis.polarbear = { choose: (...question) => chosen(posterior, ...question) };
}

/** What scripts ask: the choice for a preference given by its name and numbers. */
function chosen(posterior, name, values, risk, gamma) {
  const preference = preferenceOn(posterior, name, values);
  if (preference.problem) return { problem: preference.problem };
  const { choice, notes, ranking } = choose(posterior, preference, risk, gamma);
  const rows = ranking.map(({ item, p2bb, mean, quantile, regret }) => ({
    algorithm: posterior.items[item],
    ...{ p2bb, mean, quantile, regret },
  }));
  return { choice, preference: preference.text, weights: preference.weights, ranking: rows, notes };
}

function showProblem(problem) {
  byId("choice").replaceChildren(element("p", { class: "problem" }, `No choice: ${problem}.`));
  for (const id of ["choice-table", "choice-notes", "gain"]) byId(id).replaceChildren();
}

/** What exact knowledge could still gain. */
function showGain({ sentences, items }, information) {
  const [rival] = information.rivals;
  const choice = nameElement(items[information.choice]);
  byId("gain").replaceChildren(
    ...(rival
      ? pieces(sentences.gain, {
          gain: say.small(information.gain),
          name: choice,
          part: say.small(rival.gain),
          rival: nameElement(items[rival.item]),
          probability: say.probability(rival.p2bb),
        })
      : pieces(sentences.no_gain, { name: choice })),
  );
}

function showChoice(posterior, made, gamma, risk, preference) {
  const { sentences, items } = posterior;
  const [first, second] = made.ranking;
  const strong = (text) => element("strong", {}, text);
  const lines = [element("p", { class: "chosen" }, labelled(items[first.item]))];
  if (made.same.length) lines.push(element("p", {}, `${sameWords(posterior, made)}.`));
  else if (second) {
    const errorWords = say.small(errorOf(first.p2bb, posterior));
    const problems = first.problems === null ? null : say.counted(first.problems, "problem");
    const words = pieces(sentences.choice, {
      early: made.early ? sentences.early : "",
      probability: strong(say.probability(first.p2bb)),
      error: made.exact ? "" : filled(sentences.error, { error: errorWords }),
      rests: !first.problems ? "" : filled(sentences.rests, { problems }),
      rival: nameElement(items[first.rival]),
      share: strong(say.percent(first.mean)),
      where: sentences.where[preference] ?? sentences.where.otherwise,
      regret: strong(say.small(first.regret)),
      other_regret: say.small(second.regret),
      other: nameElement(items[second.item]),
    });
    lines.push(element("p", {}, ...words));
  } else lines.push(element("p", {}, sentences.alone));
  byId("choice").replaceChildren(...lines);
  byId("choice-table").replaceChildren(choiceTable(posterior, made, gamma, risk));
  byId("choice-notes").replaceChildren(...made.notes.map((note) => element("li", {}, note)));
}

/** Which items had the values of the choice, and their P(best) together. */
function sameWords({ sentences, items }, { ranking, same, p2bb }) {
  const together = [ranking[0].item, ...same.map(({ item }) => item)].sort((a, b) => a - b);
  const words = filled(sentences.same_values, {
    names: new Intl.ListFormat("en-GB").format(together.map((item) => labelOf(items[item]))),
    problems: say.counted(Math.min(...same.map(({ problems }) => problems)), "problem"),
  });
  if (together.length === items.length) return words + sentences.either;
  return words + filled(sentences.together, { probability: say.probability(p2bb) });
}

function choiceTable(posterior, made, gamma, risk) {
  const criteria = { p2bb: PAGE.words.p_best, mean: "mean", quantile: `quantile ${typed(gamma, 3)}`, regret: "regret" };
  const columns = Object.entries(criteria).map(([key, label]) => [label, true, key === risk ? "by" : null]);
  const rows = made.ranking.map((one) => {
    const name = posterior.items[one.item];
    const place = PAGE.algorithms.indexOf(name);
    const style = `--share: ${(100 * one.p2bb).toFixed(1)}%; --colour: var(--algorithm-${place})`;
    const share = element("td", { class: "number bar", style }, one.p2bb.toFixed(3));
    const others = ["mean", "quantile", "regret"].map((key) => element("td", { class: "number" }, one[key].toFixed(4)));
    return [labelled(name), share, ...others];
  });
  return tableOf("What speaks for each candidate", [["algorithm"], ...columns], rows);
}

function showCommand(selector, text, risk, gamma) {
  const level = risk === "quantile" ? ` --gamma ${typed(gamma, 4)}` : "";
  byId("command").textContent = `${selector.command} --preference "${text}" --risk ${risk}${level}`;
}

/** P(best) over budgets, with what is wanted shaded behind it. */
function selectorChart(view, posterior, shares, preference, { name: kind, values }) {
  const { times, items } = posterior;
  const traces = [];
  const shapes = [];
  const weights = preference.weights;
  const whole = { y0: 0, y1: 1, yref: "paper" };
  if (kind === "at") {
    const line = { color: view.colour("text"), width: 1.5 };
    shapes.push({ type: "line", x0: values[0], x1: values[0], ...whole, line });
  } else if (kind === "between") {
    const area = { fillcolor: view.colour("shade"), line: { width: 0 }, layer: "below" };
    shapes.push({ type: "rect", x0: values[0], x1: values[1], ...whole, ...area });
  } else if (weights && times.length > 1) {
    const at = (i) => times[Math.min(Math.max(i, 0), times.length - 1)];
    const density = weights.map((weight, i) => weight / ((at(i + 1) - at(i - 1)) / 2));
    const top = Math.max(...density);
    const fill = { fill: "tozeroy", fillcolor: view.colour("shade") };
    traces.push(silent(times, density.map((value) => value / top), { width: 0 }, fill));
  }
  items.forEach((name, item) => {
    if (!view.shows(name)) return;
    const told = times.map((t) => [labelOf(name), timeLabel(t)]);
    const marker = { size: 5, color: view.of(name) };
    const more = { mode: times.length > 60 ? "lines" : "lines+markers", marker, meta: PAGE.words.p_best };
    const hover = "%{customdata[0]}<br>%{customdata[1]}<br>%{meta} %{y:.3f}";
    traces.push(lineOf(view, name, times, shares[item], 2.2, told, hover, more));
  });
  const ends = items.map((name, item) => ({ name, y: shares[item].at(-1) })).filter(({ name }) => view.shows(name));
  return {
    traces,
    layout: {
      height: view.narrow ? 280 : 340,
      margin: { l: 52, r: labelRoom(view, items.filter(view.shows)), t: 12, b: 48 },
      xaxis: timeAxis(bestOnLog(times)),
      yaxis: { title: titled(PAGE.words.p_best), range: [-0.02, 1.02] },
      shapes,
      annotations: endLabels(view, ends, 0, 1, 270),
    },
  };
}
