// Attainment in the plane of times and targets, which get harder downwards; and its differences.

import { borders, stripRange, timeAxis, timeLabel } from "../axes.js";
import { labelOf } from "../labels.js";
import { withAlpha } from "../marks.js";
import { PAGE } from "../page.js";
import { grouped } from "../rows.js";
import { typed } from "../wording.js";

const MOST_PANELS = 12;
const QUARTERS = [
  [0.25, "dot", 1],
  [0.5, "solid", 2],
  [0.75, "dash", 1],
];

/** Panels side by side, each a plane; paint(panel) gives its traces, without axes. */
function planes(view, panels, titleOf, paint) {
  const across = Math.min(
    panels.length,
    view.narrow ? 1 : panels.length > 4 || panels.length === 3 ? 3 : 2,
  );
  const down = Math.max(1, Math.ceil(panels.length / across));
  const [high, head, foot] = [view.narrow ? 190 : 210, 30, 34]; // pixels
  const whole = down * (high + head + foot);
  const traces = [];
  const layout = { height: whole + 22, margin: { l: 62, r: 10, t: 0, b: 22 }, annotations: [] };
  const gap = across > 1 ? 0.05 : 0;
  const wide = (1 - gap * (across - 1)) / across;
  panels.forEach((panel, i) => {
    const [column, row] = [i % across, Math.floor(i / across)];
    const id = i === 0 ? "" : String(i + 1);
    const left = column * (wide + gap);
    const top = 1 - (row * (high + head + foot) + head) / whole;
    layout[`xaxis${id}`] = timeAxis(PAGE.log_times, {
      ...stripRange(PAGE.times),
      domain: [left, left + wide],
      anchor: `y${id}`,
      showgrid: false,
      ...(row === down - 1 ? {} : { title: { text: "" } }),
    });
    layout[`yaxis${id}`] = {
      domain: [Math.max(0, top - high / whole), top],
      anchor: `x${id}`,
      range: [1, 0],
      showgrid: false,
      zeroline: false,
      automargin: false,
      ...targetTicks(panel.rows),
      ...(column ? { showticklabels: false } : {}),
    };
    layout.annotations.push({
      text: titleOf(panel),
      xref: "paper",
      yref: "paper",
      x: left,
      y: top,
      yshift: 3,
      xanchor: "left",
      yanchor: "bottom",
      showarrow: false,
    });
    for (const trace of paint(panel)) traces.push({ ...trace, xaxis: `x${id}`, yaxis: `y${id}` });
  });
  return { traces, layout };
}

/** Targets beside the plane: distances where all instances share them, otherwise from worst to best. */
function targetTicks(rows) {
  const known = rows.filter((row) => row.kind === "grid" && row.target !== null && row.target > 0);
  if (known.length < 2)
    return {
      tickvals: [0, 0.25, 0.5, 0.75, 1],
      ticktext: ["worst", "0.25", "0.5", "0.75", "best"],
    };
  const byLevel = known.sort((a, b) => a.level - b.level);
  const [low, high] = [byLevel[0], byLevel[byLevel.length - 1]];
  const middle = byLevel[Math.floor(byLevel.length / 2)];
  const isLog = middle.target < 0.4 * (low.target + high.target);
  const scale = isLog ? Math.log10 : (x) => x;
  const slope = (scale(high.target) - scale(low.target)) / (high.level - low.level);
  const at = (level) => scale(low.target) + slope * (level - low.level);
  if (!isLog) {
    const tickvals = [0, 0.25, 0.5, 0.75, 1];
    return { tickvals, ticktext: tickvals.map((level) => typed(at(level), 3)) };
  }
  const [first, last] = [Math.floor(at(0) + 1e-6), Math.ceil(at(1) - 1e-6)];
  const stride = Math.max(1, Math.round((first - last) / 5));
  const powers = [];
  for (let power = first; power >= last; power -= stride) powers.push(power);
  return {
    tickvals: powers.map((power) => low.level + (power - scale(low.target)) / slope),
    ticktext: powers.map((power) => `1e${power}`),
  };
}

/** values[level][time] of a plane in long form. */
function planeOf(rows, value) {
  const cells = rows.filter((row) => row.kind === "grid");
  const times = [...new Set(cells.map((row) => row.t))].sort((a, b) => a - b);
  const levels = [...new Set(cells.map((row) => row.level))].sort((a, b) => a - b);
  const [at, down] = [
    new Map(times.map((t, i) => [t, i])),
    new Map(levels.map((level, i) => [level, i])),
  ];
  const z = levels.map(() => times.map(() => null));
  for (const row of cells) z[down.get(row.level)][at.get(row.t)] = row[value];
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
  return [
    {
      x: [first.t, ...points.map((row) => row.t), PAGE.times[PAGE.times.length - 1]],
      y: [0, ...points.map((row) => row.level), last.level],
      mode: "lines",
      line: { shape: "hv", ...line },
      hoverinfo: "skip",
    },
  ];
}

export function eaf(view, rows) {
  const panels = [...grouped(rows, (row) => row.algorithm)]
    .filter(([name]) => view.shows(name))
    .slice(0, MOST_PANELS)
    .map(([name, mine]) => ({ name, rows: mine }));
  const title = ({ name }) => `<span style="color:${view.ink(name)}"><b>${labelOf(name)}</b></span>`;
  return planes(view, panels, title, ({ rows: mine }) => [
    {
      type: "heatmap",
      ...planeOf(mine, "share"),
      zmin: 0,
      zmax: 1,
      showscale: false,
      colorscale: [
        [0, view.colour("least")],
        [1, view.colour("most")],
      ],
      hovertemplate: "%{customdata}<br>share of runs %{z:.2f}<extra></extra>",
    },
    ...QUARTERS.flatMap(([share, dash, width]) =>
      passed(mine, share, { color: view.colour("alarm"), dash, width }),
    ),
  ]);
}

export function eafDifference(view, rows) {
  const panels = [...grouped(rows, (row) => JSON.stringify([row.a, row.b])).values()]
    .map((mine) => ({ a: mine[0].a, b: mine[0].b, n: mine[0].instances, rows: mine }))
    .filter(({ a, b }) => view.shows(a) && view.shows(b));
  const most = Math.max(...rows.map((row) => Math.abs(row.difference ?? 0)), 0.01);
  const title = ({ a, b, n }) =>
    `<span style="color:${view.ink(a)}">${labelOf(a, 12)}</span> – <span style="color:${view.ink(b)}">${labelOf(b, 12)}</span> (n = ${n})`;
  return planes(view, panels, title, ({ a, b, rows: mine }) => {
    const { x, y, z, customdata } = planeOf(mine, "difference");
    const ahead = (name, sign) => ({
      type: "heatmap",
      x,
      y,
      z: z.map((line) => line.map((value) => (sign * value > 0 ? sign * value : null))),
      zmin: 0,
      zmax: most,
      showscale: false,
      hoverongaps: false,
      colorscale: [
        [0, withAlpha(view.of(name), 0)],
        [1, view.of(name)],
      ],
      customdata: customdata.map((line) => line.map((t) => [t, labelOf(name)])),
      hovertemplate:
        "%{customdata[0]}<br>%{customdata[1]} is ahead in %{z:.2f} of the runs<extra></extra>",
    });
    const medians = [a, b].flatMap((name) =>
      passed(
        mine.filter((row) => row.algorithm === name),
        0.5,
        { color: view.of(name), width: 2 },
      ),
    );
    return [ahead(a, 1), ahead(b, -1), ...medians];
  });
}
