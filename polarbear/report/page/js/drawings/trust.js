// Failed runs, and whether to believe the draws.

import { limitLine, nameAxis, roundAxis, timeAxis, timeLabel } from "../axes.js";
import { axisId, labelOf, lineOf, plain, titled } from "../marks.js";
import { PAGE, say } from "../page.js";
import { grouped } from "../tables.js";

const WORDS = { r_hat: "R-hat", ess_bulk: "effective draws (bulk)", ess_tail: "effective draws (tail)" };

export function failures(view, rows) {
  const names = [...new Set(rows.map((row) => row.algorithm))].filter(view.shows);
  const kinds = [...grouped(rows, (row) => row.kind)];
  const patterns = ["", "/", ".", "x", "-", "+"];
  const traces = kinds.map(([kind, some], i) => {
    const mine = some.filter((row) => names.includes(row.algorithm));
    return {
      type: "bar",
      orientation: "h",
      x: mine.map((row) => row.failed),
      y: mine.map((row) => names.indexOf(row.algorithm)),
      marker: {
        color: mine.map((row) => view.of(row.algorithm)),
        pattern: { shape: patterns[i % patterns.length] },
      },
      customdata: mine.map((row) => [
        ...[labelOf(row.algorithm), kind, plain(row.message ?? "", 60)],
        say.counted(row.runs, "run"),
      ]),
      hovertemplate:
        "%{customdata[0]}: %{x} of %{customdata[3]}<br>%{customdata[1]}: %{customdata[2]}<extra></extra>",
    };
  });
  const dtick = Math.max(1, Math.ceil(Math.max(...rows.map((row) => row.failed)) / 6));
  return {
    traces,
    layout: {
      height: names.length * 34 + 90,
      barmode: "stack",
      xaxis: { title: titled("failed runs"), rangemode: "tozero", tick0: 0, dtick },
      yaxis: nameAxis(view, names, { range: [names.length - 0.4, -0.6], ticks: "" }),
    },
  };
}

/** R-hat and effective draws over time, and how many draws each round took. */
export function diagnostics(view, rows) {
  const panels = [
    ["R-hat", ["r_hat"]],
    ["effective draws", ["ess_bulk", "ess_tail"]],
  ].filter(([, kinds]) => rows.some((row) => kinds.includes(row.what)));
  const byRound = rows.filter((row) => row.what === "draws" && row.round !== null);
  const [panel, gap] = [150, 64]; // pixels
  const all = panels.length + (byRound.length ? 1 : 0);
  const inner = all * panel + (all - 1) * gap;
  const layout = { height: inner + 60, margin: { l: 62, r: 12, t: 6, b: 48 }, shapes: [] };
  const addAxes = (i, title, xaxis, more) => {
    const id = axisId(i);
    const edges = [(i + 1) * panel + i * gap, i * (panel + gap)].map((edge) => 1 - edge / inner);
    const domain = edges.map((edge) => Math.min(Math.max(edge, 0), 1));
    layout[`xaxis${id}`] = { ...xaxis, anchor: `y${id}` };
    layout[`yaxis${id}`] = { title: titled(title), domain, anchor: `x${id}`, zeroline: false, ...more };
    return { xaxis: `x${id}`, yaxis: `y${id}` };
  };
  const traces = [];
  panels.forEach(([title, kinds], i) => {
    const some = rows.filter((row) => kinds.includes(row.what));
    const limit = some[0].limit;
    const values = some.map((row) => row.value);
    const [low, high] = [Math.min(...values, limit), Math.max(...values, limit)];
    const pad = (high - low) * 0.08 || 0.01;
    const range = [kinds.length === 1 ? low - pad : 0, high + pad];
    const axes = addAxes(i, title, timeAxis(PAGE.log_times), { range, nticks: 5 });
    layout.shapes.push(limitLine(view, limit, { xref: `${axes.xaxis} domain`, yref: axes.yaxis }));
    for (const [, mine] of grouped(some, (row) => JSON.stringify([row.what, row.algorithm]))) {
      const { what, algorithm: name } = mine[0];
      if (!view.shows(name)) continue;
      const [x, y] = ["t", "value"].map((key) => mine.map((row) => row[key]));
      const told = mine.map((row) => [labelOf(name), timeLabel(row.t)]);
      const hover = `%{customdata[0]}<br>%{customdata[1]}<br>${WORDS[what]} %{y:,.4~g}`;
      const more = { ...axes, marker: { color: view.of(name) } };
      traces.push(lineOf(view, name, x, y, what === "ess_tail" ? 0.8 : 2, told, hover, more));
    }
  });
  if (byRound.length) {
    const numbers = byRound.map((row) => row.round);
    const axes = addAxes(panels.length, "draws", roundAxis(numbers[0], numbers.at(-1)), { nticks: 4 });
    traces.push({
      ...{ type: "bar", x: numbers, y: byRound.map((row) => row.value), width: 0.7, ...axes },
      marker: { color: view.colour("soft") },
      customdata: byRound.map((row) => say.counted(row.value, "draw")),
      hovertemplate: "round %{x}: %{customdata}<extra></extra>",
    });
  }
  return { traces, layout };
}
