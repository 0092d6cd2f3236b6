// The classical view: ECDF over time; attainment in the plane of times and targets, which get harder
// downwards; and its differences.

import { borders, stripRange, timeAxis, timeLabel } from "../axes.js";
import {
  axisId, bandOf, cells, endLabels, labelOf, labelRoom, lineOf, note, shades, silent, titled, towards,
} from "../marks.js";
import { PAGE } from "../page.js";
import { nearestIndex } from "../preferences.js";
import { grouped } from "../tables.js";
import { significant } from "../wording.js";

const MOST_PANELS = 12;
const QUARTERS = [[0.25, "dot", 1], [0.5, "solid", 2], [0.75, "dash", 1]];

/** Panels side by side, each a plane; paint(panel) gives its traces, without axes. */
function planes(view, panels, titleOf, paint) {
  const most = view.narrow ? 1 : panels.length > 4 || panels.length === 3 ? 3 : 2;
  const across = Math.min(panels.length, most);
  const down = Math.max(1, Math.ceil(panels.length / across));
  const [high, head, foot] = [view.narrow ? 190 : 210, 30, 34]; // pixels
  const whole = down * (high + head + foot);
  const traces = [];
  const layout = { height: whole + 22, margin: { l: 62, r: 10, t: 0, b: 22 }, annotations: [] };
  const gap = across > 1 ? 0.05 : 0;
  const wide = (1 - gap * (across - 1)) / across;
  panels.forEach((panel, i) => {
    const [column, row] = [i % across, Math.floor(i / across)];
    const id = axisId(i);
    const left = column * (wide + gap);
    const top = 1 - (row * (high + head + foot) + head) / whole;
    layout[`xaxis${id}`] = timeAxis(PAGE.log_times, {
      ...stripRange(PAGE.times),
      ...{ domain: [left, left + wide], anchor: `y${id}`, showgrid: false },
      ...(row === down - 1 ? {} : { title: { text: "" } }),
    });
    layout[`yaxis${id}`] = {
      ...{ domain: [Math.max(0, top - high / whole), top], anchor: `x${id}`, range: [1, 0] },
      ...{ showgrid: false, zeroline: false, automargin: false },
      ...targetTicks(panel.rows),
      ...(column ? { showticklabels: false } : {}),
    };
    const above = { xref: "paper", yref: "paper", yshift: 3, xanchor: "left", yanchor: "bottom" };
    layout.annotations.push(note(titleOf(panel), left, top, above));
    for (const trace of paint(panel)) traces.push({ ...trace, xaxis: `x${id}`, yaxis: `y${id}` });
  });
  return { traces, layout };
}

/** Targets beside the plane: distances where all instances share them, otherwise from worst to best. */
function targetTicks(rows) {
  const known = rows.filter((row) => row.kind === "grid" && row.target !== null);
  const tickvals = [0, 0.25, 0.5, 0.75, 1];
  if (!known.length) return { tickvals, ticktext: ["worst", "0.25", "0.5", "0.75", "best"] };
  const levels = known.map((row) => row.level);
  const shown = tickvals.map((level) => known[nearestIndex(levels, level)]);
  return { tickvals: shown.map((row) => row.level), ticktext: shown.map((row) => significant(row.target, 1)) };
}

/** values[level][time] of a plane in long form. */
function planeOf(rows, value) {
  const grid = rows.filter((row) => row.kind === "grid");
  const sorted = (key) => [...new Set(grid.map((row) => row[key]))].sort((a, b) => a - b);
  const [times, levels] = [sorted("t"), sorted("level")];
  const z = levels.map(() => times.map(() => null));
  for (const row of grid) z[levels.indexOf(row.level)][times.indexOf(row.t)] = row[value];
  const labels = times.map(timeLabel);
  const customdata = levels.map(() => labels);
  return { x: borders(times, PAGE.log_times), y: [0, ...levels], z, customdata };
}

/** The line that a share of the runs has passed, as steps to the end of the grid. */
function passed(rows, share, line) {
  const points = rows
    .filter((row) => row.kind === "contour" && Math.abs(row.share - share) < 1e-9)
    .sort((a, b) => a.t - b.t);
  if (!points.length) return [];
  const [first, last] = [points[0], points[points.length - 1]];
  const x = [first.t, ...points.map((row) => row.t), PAGE.times.at(-1)];
  return [silent(x, [0, ...points.map((row) => row.level), last.level], { shape: "hv", ...line })];
}

export function eaf(view, rows) {
  const panels = [...grouped(rows, (row) => row.algorithm)]
    .filter(([name]) => view.shows(name))
    .slice(0, MOST_PANELS)
    .map(([name, mine]) => ({ name, rows: mine }));
  const title = ({ name }) => `<span style="color:${view.ink(name)}"><b>${labelOf(name)}</b></span>`;
  return planes(view, panels, title, ({ rows: mine }) => {
    const { x, y, z, customdata } = planeOf(mine, "share");
    const hovertemplate = "%{customdata}<br>share of runs %{z:.2f}<extra></extra>";
    const line = (dash, width) => ({ color: view.colour("alarm"), dash, width });
    return [
      cells(x, y, z, shades(view), { zmax: 1, customdata, hovertemplate }),
      ...QUARTERS.flatMap(([share, dash, width]) => passed(mine, share, line(dash, width))),
    ];
  });
}

export function eafDifference(view, rows) {
  const panels = [...grouped(rows, (row) => JSON.stringify([row.a, row.b])).values()]
    .map((mine) => ({ a: mine[0].a, b: mine[0].b, n: mine[0].instances, rows: mine }))
    .filter(({ a, b }) => view.shows(a) && view.shows(b));
  const most = Math.max(...rows.map((row) => Math.abs(row.difference ?? 0)), 0.01);
  const coloured = (name) => `<span style="color:${view.ink(name)}">${labelOf(name, 12)}</span>`;
  const title = ({ a, b, n }) => `${coloured(a)} – ${coloured(b)} (n = ${n})`;
  return planes(view, panels, title, ({ a, b, rows: mine }) => {
    const { x, y, z, customdata } = planeOf(mine, "difference");
    const ahead = (name, sign) => {
      const own = z.map((line) => line.map((value) => (sign * value > 0 ? sign * value : null)));
      return cells(x, y, own, towards(view.of(name)), {
        zmax: most,
        hoverongaps: false,
        customdata: customdata.map((line) => line.map((t) => [t, labelOf(name)])),
        hovertemplate:
          "%{customdata[0]}<br>%{customdata[1]} is ahead in %{z:.2f} of the runs<extra></extra>",
      });
    };
    const medians = [a, b].flatMap((name) => {
      const own = mine.filter((row) => row.algorithm === name);
      return passed(own, 0.5, { color: view.of(name), width: 2 });
    });
    return [ahead(a, 1), ahead(b, -1), ...medians];
  });
}

export function ecdf(view, rows) {
  const traces = [];
  const ends = [];
  for (const [name, mine] of grouped(rows, (row) => row.algorithm)) {
    if (!view.shows(name)) continue;
    const [times, low, high, share] = ["t", "low", "high", "share"].map((key) => mine.map((row) => row[key]));
    if (low[0] !== null) traces.push(bandOf(times, low, high, view.of(name), 0.12));
    const interval = (row) => (row.low === null ? "" : `(${row.low.toFixed(3)} to ${row.high.toFixed(3)})`);
    const told = mine.map((row) => [labelOf(name), timeLabel(row.t), interval(row)]);
    const hover = "%{customdata[0]}<br>%{customdata[1]}<br>share of targets %{y:.3f} %{customdata[2]}";
    traces.push(lineOf(view, name, times, share, 2, told, hover));
    ends.push({ name, y: share.at(-1) });
  }
  return {
    traces,
    layout: {
      margin: { l: 56, r: labelRoom(view, ends.map(({ name }) => name)), t: 12, b: 48 },
      xaxis: timeAxis(PAGE.log_times),
      yaxis: { title: titled("share of targets"), range: [-0.01, 1.02], zeroline: false },
      annotations: endLabels(view, ends, 0, 1, view.narrow ? 260 : 340),
    },
  };
}
