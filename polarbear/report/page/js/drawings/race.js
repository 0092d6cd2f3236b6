// The race: P(dominated) of each algorithm and the share of settled pairs, round after round; and
// where the budget went.

import { borders, limitLine, nameAxis, roundAxis, stripRange, timeAxis, timeLabel } from "../axes.js";
import { cells, endLabels, lettersBeside, labelOf, labelRoom, lineOf, note, shades, titled } from "../marks.js";
import { PAGE, say } from "../page.js";
import { grouped } from "../tables.js";

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
  const upper = stretchedPlace(top, top) + 0.08;
  const isOut = (end) => end.event === "eliminated";
  const beside = ends.filter((end) => end.round === last && !isOut(end));
  const labels = endLabels(view, beside, -0.04, upper, 300);
  for (const { name, y, round } of ends.filter(isOut)) {
    const side = round > (first + last) / 2 ? { xanchor: "right", xshift: -9 } : { xanchor: "left", xshift: 9 };
    const font = { size: view.narrow ? 11 : 12, color: view.ink(name) };
    labels.push(note(labelOf(name, lettersBeside(view)), round, y, { ...side, yshift: 9, font }));
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

export function allocation(view, rows) {
  const names = [...new Set(rows.map((row) => row.algorithm))]
    .filter(view.shows)
    .sort((a, b) => PAGE.algorithms.indexOf(a) - PAGE.algorithms.indexOf(b));
  const times = PAGE.times;
  const raced = rows.some((row) => row.round !== null);
  const seen = names.map((name) => {
    const mine = rows.filter((row) => row.algorithm === name);
    return times.map((t) => mine.reduce((sum, row) => sum + (row.to >= t ? row.instances : 0), 0));
  });
  const least = times.length * (view.narrow ? 0.1 : 0.04); // times that leave room for a number
  const counts = seen.map((row) => {
    const said = row.map(() => "");
    for (let from = 0, to = 0; from < row.length; from = to) {
      while (to < row.length && row[to] === row[from]) to++;
      if (to - from >= least) said[(from + to - 1) >> 1] = String(row[from]);
    }
    return said;
  });
  const strips = names.length * 28;
  const bars = raced ? 190 : 0;
  const between = raced ? 84 : 0;
  const inner = strips + bars + between || 1;
  const told = seen.map((row, i) =>
    row.map((n, t) => [labelOf(names[i]), timeLabel(times[t]), say.counted(n, "instance")]),
  );
  const traces = [
    cells(borders(times, PAGE.log_times), names.map((_, i) => i), seen, shades(view), {
      ...{ text: counts, texttemplate: "%{text}", textfont: { size: 11 }, ygap: 2, customdata: told },
      hovertemplate: "%{customdata[0]} ran to %{customdata[1]}<br>on %{customdata[2]}<extra></extra>",
    }),
  ];
  const layout = {
    height: inner + 60,
    margin: { l: 60, r: 12, t: 6, b: 48 },
    xaxis: timeAxis(PAGE.log_times, { anchor: "y", showgrid: false, ...stripRange(times) }),
    yaxis: nameAxis(view, names, {
      ...{ domain: [(bars + between) / inner, 1], range: [names.length - 0.5, -0.5], ticks: "" },
    }),
  };
  if (raced) {
    // A bar a round, its width the number of instances: areas are budgets, the empty part was saved.
    const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
    const rounds = [...grouped(rows, (row) => row.round)].map(([number, some]) => {
      return { number, some, whole: total(some.map((row) => row.everything)) };
    });
    const most = Math.max(...rounds.map(({ some }) => some.length));
    const widths = rounds.map(({ whole }) => whole / (times[times.length - 1] * most));
    const starts = widths.map((_, i) => total(widths.slice(0, i)));
    const end = total(widths);
    for (const name of names) {
      const given = rounds.map(({ some }) =>
        total(some.filter((row) => row.algorithm === name).map((row) => row.allotted)),
      );
      traces.push({
        ...{ type: "bar", xaxis: "x2", yaxis: "y2", x: starts, width: widths, offset: 0 },
        y: given.map((amount, i) => amount / rounds[i].whole),
        marker: { color: view.of(name), line: { width: 0.5, color: view.colour("page") } },
        customdata: given.map((amount, i) => [
          labelOf(name),
          rounds[i].number,
          timeLabel(amount),
          say.percent(amount / rounds[i].whole),
        ]),
        hovertemplate:
          "%{customdata[0]}, round %{customdata[1]}<br>%{customdata[2]}, %{customdata[3]} of the round's<extra></extra>",
      });
    }
    layout.barmode = "stack";
    layout.xaxis2 = {
      ...{ anchor: "y2", range: [0, end], nticks: 8, showgrid: false, zeroline: false },
      title: titled("instances, round after round"),
    };
    layout.yaxis2 = {
      ...{ anchor: "x2", domain: [0, bars / inner], range: [0, 1.01], zeroline: false },
      title: titled("budget used"),
      tickvals: [0, 0.5, 1],
      ticktext: ["0", "50 %", "100 %"],
    };
    const frame = { type: "rect", xref: "x2", yref: "y2", y0: 0, y1: 1 };
    const line = { color: view.colour("line"), width: 0.7 };
    layout.shapes = rounds.map((_, i) => ({ ...frame, x0: starts[i], x1: starts[i] + widths[i], line }));
  }
  return { traces, layout };
}
