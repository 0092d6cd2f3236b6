// What the selector shows: the choice in words, a table, and the command that gives the same answer.

import { bestOnLog, timeAxis, timeLabel } from "./axes.js";
import { errorOf } from "./choosing.js";
import { byId, element, labelled, nameElement, tableOf } from "./dom.js";
import { labelOf } from "./labels.js";
import { endLabels, labelRoom, lineOf, silent, titled } from "./marks.js";
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
    const problems = first.problems === null ? null : say.counted(first.problems, "problem");
    const words = pieces(sentences.choice, {
      early: made.early ? sentences.early : "",
      probability: strong(say.probability(first.p2bb)),
      error: say.small(errorOf(first.p2bb, posterior)),
      rests: problems === null ? "" : filled(sentences.rests, { problems }),
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

export function showCommand(selector, text, risk, gamma) {
  const level = risk === "quantile" ? ` --gamma ${typed(gamma, 4)}` : "";
  byId("command").textContent = `${selector.command} --preference "${text}" --risk ${risk}${level}`;
}

/** P(best) over budgets, with what is wanted shaded behind it. */
export function selectorChart(view, posterior, shares, preference, { name: kind, values }) {
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
