// The race, round after round: P(dominated) of each algorithm, and the share of settled pairs.

import { limitLine, roundAxis } from "../axes.js";
import { labelOf } from "../labels.js";
import { apart, endLabels, endText, labelRoom, lineOf, note, titled } from "../marks.js";
import { PAGE, say } from "../page.js";
import { grouped } from "../rows.js";

const BEND = 0.9; // above it, the axis is logarithmic in 1 - p
const DECADE = 0.3;
const MARKS = [0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999];

/** Where a probability stands on the axis; what is as good as certain stands at its end. */
function stretchedPlace(p, top) {
  const q = Math.min(p, top);
  return q > BEND ? BEND - DECADE * Math.log10((1 - q) / (1 - BEND)) : q;
}

export function rounds(view, rows) {
  const numbers = [...new Set(rows.map((row) => row.round))];
  const [first, last] = [numbers[0], numbers[numbers.length - 1]];
  const highest = Math.max(...rows.map((row) => row.probability ?? 0), PAGE.alpha);
  const top = MARKS.slice(5).find((mark) => mark >= highest) ?? MARKS[MARKS.length - 1];
  const ticks = MARKS.filter((mark) => mark <= top);
  const traces = [];
  const ends = [];
  for (const [name, all] of grouped(rows, (row) => row.algorithm)) {
    const known = all.filter((row) => row.probability !== null);
    if (!view.shows(name) || !known.length) continue;
    const symbols = { eliminated: ["x", 12], resolved: ["diamond", 11] };
    const x = known.map((row) => row.round);
    const y = known.map((row) => stretchedPlace(row.probability, top));
    const told = known.map((row) => [
      ...[labelOf(name), row.probability, labelOf(row.by ?? ""), row.event],
      say.counted(row.instances, "instance"),
    ]);
    const hover =
      "%{customdata[0]}, round %{x} (%{customdata[4]})<br>" +
      "dominated by %{customdata[2]}: %{customdata[1]:.4f}<br>%{customdata[3]}";
    const marks = known.map((row) => symbols[row.event] ?? ["circle", numbers.length > 30 ? 3 : 5]);
    const [symbol, size] = [0, 1].map((part) => marks.map((mark) => mark[part]));
    const marker = { color: view.of(name), symbol, size, line: { width: 0 }, opacity: 1 };
    const more = { mode: "lines+markers", marker, cliponaxis: false };
    traces.push(lineOf(view, name, x, y, 2, told, hover, more));
    const { round, event } = known.at(-1);
    ends.push({ name, y: y.at(-1), round, event });
  }
  const settled = [...grouped(rows, (row) => row.round)].map(([number, some]) => [number, some[0].share_settled]);
  traces.push({
    x: settled.map(([number]) => number),
    y: settled.map(([, share]) => share),
    yaxis: "y2",
    mode: "lines+markers",
    line: { color: view.colour("text"), width: 1.5, shape: "hv" },
    marker: { size: numbers.length > 30 ? 2 : 4 },
    customdata: settled.map(([, share]) => say.percent(share)),
    hovertemplate: "round %{x}: %{customdata} of pairs settled<extra></extra>",
  });
  const out = grouped(ends.filter((end) => end.event === "eliminated"), (end) => end.round);
  const upper = stretchedPlace(top, top) + 0.08;
  const beside = ends.filter((end) => end.round === last && end.event !== "eliminated");
  const labels = endLabels(view, beside, -0.04, upper, 300);
  for (const [number, some] of out) {
    some.sort((a, b) => a.y - b.y);
    const left = number > (first + last) / 2;
    const places = apart(some.map((end) => end.y), (16 * (upper + 0.04)) / 300, -0.04, upper);
    const side = { xanchor: left ? "right" : "left", xshift: left ? -9 : 9, yshift: some.length > 1 ? 0 : 9 };
    some.forEach((end, i) => {
      const font = { size: view.narrow ? 11 : 12, color: view.ink(end.name) };
      labels.push(note(endText(view, end.name, false), number, places[i], { ...side, font }));
    });
  }
  return {
    traces,
    layout: {
      height: view.narrow ? 400 : 470,
      margin: { l: 60, r: labelRoom(view, beside.map(({ name }) => name)), t: 12, b: 48 },
      xaxis: roundAxis(first, last, { anchor: "y2" }),
      yaxis: {
        ...{ title: titled("P(dominated)"), domain: [0.27, 1], range: [-0.04, upper], zeroline: false },
        tickvals: ticks.map((tick) => stretchedPlace(tick, top)),
        ticktext: ticks.map(String),
      },
      yaxis2: {
        ...{ title: titled("settled"), domain: [0, 0.19], range: [0, 1.05], zeroline: false },
        tickvals: [0, 0.5, 1],
      },
      shapes: [limitLine(view, stretchedPlace(PAGE.alpha, top), { xref: "paper" })],
      annotations: labels,
    },
  };
}
