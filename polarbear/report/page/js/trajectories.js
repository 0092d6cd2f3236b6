// The runs on one instance: the best value so far of every algorithm, at the times of the grid.

import { timeAxis, timeLabel } from "./axes.js";
import { labelOf } from "./labels.js";
import { endLabels, labelRoom, lineOf, titled } from "./marks.js";
import { PAGE } from "./page.js";
import { significant } from "./wording.js";

const LOG_FROM = 100; // values that span this factor, none negative, are drawn on a log scale

export function instanceChart(view, sample, instance) {
  const runs = sample.algorithms
    .map((name, i) => {
      const points = sample.times
        .map((t, k) => ({ t, y: sample.at(instance, i, k) }))
        .filter(({ y }) => Number.isFinite(y));
      return { name, points };
    })
    .filter(({ name, points }) => points.length && view.shows(name));
  const values = runs.flatMap(({ points }) => points.map(({ y }) => y));
  const least = Math.min(...values.filter((y) => y > 0));
  const high = Math.max(...values);
  const hasZero = values.includes(0);
  const isLog = Math.min(...values) >= 0 && high > LOG_FROM * least;
  const floor = hasZero ? least / 10 : least; // where zero stands on a log scale
  const low = isLog ? floor : Math.min(...values);
  const onAxis = isLog ? (y) => Math.log10(Math.max(y, floor)) : (y) => y;
  const pad = 0.04 * (onAxis(high) - onAxis(low)) || 0.5;
  const range = [onAxis(low) - pad, onAxis(high) + pad];
  const zero = isLog && hasZero ? ` (0 at ${significant(floor, 2)})` : "";
  const title = `best value so far${zero}`;
  const traces = runs.map(({ name, points }) => {
    const told = points.map(({ t, y }) => [labelOf(name), timeLabel(t), String(Number(y.toPrecision(6)))]);
    const y = points.map((point) => (isLog ? Math.max(point.y, floor) : point.y));
    const mode = sample.times.length > 60 ? "lines" : "lines+markers";
    const line = { color: view.of(name), dash: view.dash(name), width: 2, shape: "hv" };
    const more = { mode, line, marker: { color: view.of(name), size: 4 } };
    const hover = "%{customdata[0]}<br>%{customdata[1]}<br>%{customdata[2]}";
    return lineOf(view, name, points.map(({ t }) => t), y, 2, told, hover, more);
  });
  const ends = runs.map(({ name, points }) => ({ name, y: onAxis(points.at(-1).y) }));
  return {
    traces,
    layout: {
      height: view.narrow ? 300 : 360,
      margin: { l: 64, r: labelRoom(view, runs.map(({ name }) => name)), t: 12, b: 48 },
      xaxis: timeAxis(PAGE.log_times),
      yaxis: { title: titled(title), type: isLog ? "log" : "linear", range, zeroline: false },
      annotations: endLabels(view, ends, ...range, view.narrow ? 240 : 300),
    },
  };
}
