// Axes: of time, of names, of rounds.

import { plain } from "./marks.js";
import { PAGE, say } from "./page.js";

const AXIS = plain(PAGE.axis);
const TICK_WIDTH = 46; // pixels of a tick's text, with some room around it

/** A time with its unit, as a chart can show it. */
export function timeLabel(t) {
  return plain(say.timed(t), 40);
}

/** Ticks of an axis as far as there is room for them side by side, in pixels. */
export function fewerTicks(axis, room) {
  const stride = Math.ceil((axis.tickvals.length * TICK_WIDTH) / Math.max(room, TICK_WIDTH));
  const isKept = (_, i) => i % stride === 0;
  return {
    ...axis,
    tickangle: 0,
    tickvals: axis.tickvals.filter(isKept),
    ticktext: axis.ticktext.filter(isKept),
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

/** The distance between whole numbers on an axis, of which at most ten are named. */
export function stepOfRounds(first, last) {
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500];
  return steps.find((step) => (last - first) / step <= 9) ?? 1000;
}
