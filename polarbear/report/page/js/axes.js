// Axes: of time, of names, of rounds.

import { bracketed, plain } from "./marks.js";
import { PAGE, say } from "./page.js";

const AXIS = plain(PAGE.axis);

/** A time with its unit, as a chart can show it. */
export function timeLabel(t) {
  return plain(say.timed(t), 40);
}

/** Ticks of a logarithmic axis as far as there is room for them side by side. */
export function fewerTicks(view, axis) {
  if (axis.type !== "log" || !axis.tickvals) return axis;
  const [from, to] = axis.domain ?? [0, 1];
  const room = (to - from) * (view.width - 130);
  const stride = Math.ceil((axis.tickvals.length * 46) / Math.max(room, 46));
  const keep = (_, i) => i % stride === 0;
  return {
    ...axis,
    tickangle: 0,
    tickvals: axis.tickvals.filter(keep),
    ticktext: axis.ticktext.filter(keep),
  };
}

/** Whether times are best seen on a logarithmic scale: as the grid is spaced, or far and uneven. */
export function bestOnLog(times) {
  const steps = times.slice(1).map((t, i) => t - times[i]);
  const uneven = Math.max(...steps) > 3 * Math.min(...steps);
  return PAGE.log_times || (uneven && times[0] > 0 && times[times.length - 1] / times[0] > 20);
}

/** An axis of time, on the scale of the grid unless the reader asks for the other one. */
export function timeAxis(log, more = {}) {
  const [first, last] = [PAGE.times[0], PAGE.times[PAGE.times.length - 1]];
  const title = { text: AXIS, standoff: 8 };
  if (first === last) {
    return { title, type: "linear", ...padded(first, last), tickvals: [first], ...more };
  }
  if (!log || first <= 0) return { title, type: "linear", ...padded(first, last), ...more };
  const { range } = padded(Math.log10(first), Math.log10(last));
  const [tickvals, ticktext] = [0, 1].map((part) => PAGE.ticks.map((tick) => tick[part]));
  return { title, type: "log", range, tickvals, ticktext, ...more };
}

function padded(first, last) {
  const pad = first === last ? Math.max(Math.abs(first), 1) * 0.1 : (last - first) * 0.01;
  return { range: [first - pad, last + pad] };
}

/** Names along an axis: places on it are numbers, so that two names may look alike. */
export function nameAxis(view, names, more = {}) {
  const length = view.narrow ? 12 : 20;
  return {
    tickvals: names.map((_, i) => i),
    ticktext: names.map((name) => bracketed(name, length, PAGE.out.includes(name))),
    showgrid: false,
    zeroline: false,
    ...more,
  };
}

/** Borders half way between the times, on the scale of the axis. */
export function borders(times, log) {
  if (times.length === 1) return [times[0] * 0.9, times[0] * 1.1];
  const there = log ? Math.log : (t) => t;
  const back = log ? Math.exp : (x) => x;
  const places = times.map(there);
  const middles = places.slice(1).map((place, i) => (place + places[i]) / 2);
  const mirrored = 2 * places[0] - middles[0];
  const first = !log && places[0] >= 0 ? Math.max(mirrored, 0) : mirrored; // no time before the start
  const last = 2 * places[places.length - 1] - middles[middles.length - 1];
  return [first, ...middles, last].map(back);
}

/** A dashed line at a limit. */
export function limitLine(view, at, more = {}) {
  const line = { color: view.colour("text"), width: 1, dash: "dash" };
  return { type: "line", x0: 0, x1: 1, y0: at, y1: at, line, ...more };
}

/** Whole numbers along an axis of rounds. */
export function roundAxis(first, last, more = {}) {
  const dtick = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((one) => (last - first) / one <= 9) || 1000;
  const pad = Math.max(0.6, 0.02 * (last - first));
  return {
    title: { text: "round", standoff: 6 },
    range: [first - pad, last + pad],
    ...{ tick0: 0, dtick, zeroline: false, ...more },
  };
}

/** The range of an axis along which cells lie, from border to border. */
export function stripRange(times) {
  const edges = borders(times, PAGE.log_times);
  const ends = [edges[0], edges[edges.length - 1]];
  return { range: PAGE.log_times ? ends.map(Math.log10) : ends };
}
