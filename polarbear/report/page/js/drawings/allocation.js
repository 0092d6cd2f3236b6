// Where the budget went: how far each algorithm ran on how many instances, and the budget of each round.

import { borders, nameAxis, stripRange, timeAxis, timeLabel } from "../axes.js";
import { labelOf } from "../labels.js";
import { cells, shades, titled } from "../marks.js";
import { PAGE, say } from "../page.js";
import { grouped } from "../rows.js";

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
