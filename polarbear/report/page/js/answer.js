// What the selector shows: the choice in words, a table beside it, and the command that asks the same.

import { bestOnLog, timeAxis, timeLabel } from "./axes.js";
import { errorOf } from "./choosing.js";
import { byId, element, labelled, nameElement } from "./dom.js";
import { labelOf } from "./labels.js";
import { endLabels, labelRoom } from "./marks.js";
import { PAGE, say } from "./page.js";
import { filled, pieces, typed } from "./wording.js";

export function showProblem(problem) {
  byId("choice").replaceChildren(element("p", { class: "problem" }, `No choice: ${problem}.`));
  for (const id of ["choice-table", "choice-notes", "gain"]) byId(id).replaceChildren();
}

/** What further rounds could still gain. */
export function showGain({ sentences, items }, information) {
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

export function showChoice(posterior, made, gamma, risk, preference) {
  const { sentences, items } = posterior;
  const [first, second] = made.ranking;
  const strong = (text) => element("strong", {}, text);
  const lines = [element("p", { class: "chosen" }, labelled(items[first.item]))];
  if (second) {
    const rests = first.problems === null ? "" : filled(sentences.rests, { problems: say.counted(first.problems, "problem") });
    const words = pieces(sentences.choice, {
      early: made.early ? sentences.early : "",
      probability: strong(say.probability(first.p2bb)),
      error: say.small(errorOf(first.p2bb, posterior)),
      rests,
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

function choiceTable(posterior, made, gamma, risk) {
  const columns = [
    ["p2bb", PAGE.words.p_best],
    ["mean", "mean"],
    ["quantile", `quantile ${typed(gamma, 3)}`],
    ["regret", "regret"],
  ];
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, "algorithm"),
    columns.map(([key, label]) =>
      element("th", { scope: "col", class: key === risk ? "number by" : "number" }, label),
    ),
  );
  const rows = made.ranking.map((one) => {
    const cells = columns.map(([key]) => {
      const text = one[key].toFixed(key === "p2bb" ? 3 : 4);
      const share =
        key === "p2bb"
          ? `--share: ${(100 * one.p2bb).toFixed(1)}%; --colour: var(--algorithm-${PAGE.algorithms.indexOf(posterior.items[one.item])})`
          : null;
      return element("td", { class: key === "p2bb" ? "number bar" : "number", style: share }, text);
    });
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, labelled(posterior.items[one.item])),
      cells,
    );
  });
  return element("table", { "aria-label": "What speaks for each candidate" }, element("thead", {}, head), element("tbody", {}, rows));
}

export function showCommand(selector, text, risk, gamma) {
  const level = risk === "quantile" ? ` --gamma ${typed(gamma, 4)}` : "";
  byId("command").textContent = `${selector.command} --preference "${text}" --risk ${risk}${level}`;
}

/** P(best) over budgets, with what is wanted shaded behind it. */
export function selectorChart(view, posterior, shares, preference, kind, controls) {
  const { times, items } = posterior;
  const single = times.length === 1;
  const traces = [];
  const shapes = [];
  const weights = preference.weights;
  if ((kind === "distribution" || kind === "sketch") && weights && !single) {
    const density = weights.map(
      (weight, i) =>
        weight / ((times[Math.min(i + 1, times.length - 1)] - times[Math.max(i - 1, 0)]) / 2),
    );
    const top = Math.max(...density);
    traces.push({
      x: times,
      y: density.map((value) => value / top),
      mode: "lines",
      line: { width: 0 },
      fill: "tozeroy",
      fillcolor: view.colour("shade"),
      hoverinfo: "skip",
    });
  }
  const line = { color: view.colour("text"), width: 1.5 };
  if (kind === "at") {
    const t = controls.at[0].value;
    shapes.push({ type: "line", x0: t, x1: t, y0: 0, y1: 1, yref: "paper", line });
  } else if (kind === "between") {
    const [start, stop] = controls.between.map((control) => control.value);
    shapes.push({
      type: "rect",
      x0: start,
      x1: stop,
      y0: 0,
      y1: 1,
      yref: "paper",
      fillcolor: view.colour("shade"),
      line: { width: 0 },
      layer: "below",
    });
  }
  items.forEach((name, item) => {
    if (!view.shows(name)) return;
    traces.push({
      x: times,
      y: shares[item],
      mode: times.length > 60 ? "lines" : "lines+markers",
      marker: { size: 5, color: view.of(name) },
      line: { color: view.of(name), dash: view.dash(name), width: 2.2 },
      customdata: times.map((t) => [labelOf(name), timeLabel(t)]),
      hovertemplate: "%{customdata[0]}<br>%{customdata[1]}<br>%{meta} %{y:.3f}<extra></extra>",
      meta: PAGE.words.p_best,
    });
  });
  const last = times.length - 1;
  const ends = items
    .map((name, item) => ({ name, y: shares[item][last] }))
    .filter(({ name }) => view.shows(name));
  return {
    traces,
    layout: {
      height: view.narrow ? 280 : 340,
      margin: { l: 52, r: labelRoom(view, items.filter(view.shows)), t: 12, b: 48 },
      xaxis: timeAxis(bestOnLog(times)),
      yaxis: { title: { text: PAGE.words.p_best, standoff: 6 }, range: [-0.02, 1.02] },
      shapes,
      annotations: endLabels(view, ends, 0, 1, 270),
    },
  };
}
