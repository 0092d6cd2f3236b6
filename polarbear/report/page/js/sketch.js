// A distribution over budgets, drawn by hand: bars that the mouse paints and keys move.

import { bestOnLog } from "./axes.js";
import { rounded } from "./controls.js";
import { element } from "./dom.js";
import { say } from "./page.js";

const BARS = 10;
const TOP = 10; // the highest a bar can be

/** The control; its value is a list of from, to, height for each bar. */
export function sketchControl(times, changed) {
  const [low, high] = [times[0], times[times.length - 1]];
  const isLog = bestOnLog(times) && low > 0;
  const edge = (share) =>
    rounded(isLog ? low * (high / low) ** share : low + (high - low) * share, low, high);
  const edges = Array.from({ length: BARS + 1 }, (_, i) => edge(i / BARS));
  const heights = Array.from({ length: BARS }, (_, i) => (i === 6 ? 6 : i === 5 || i === 7 ? 3 : 0));
  const bars = heights.map((height, i) => {
    const [from, to] = [edges[i], edges[i + 1]].map(say.time);
    const bar = element("input", {
      type: "range",
      min: 0,
      max: TOP,
      step: 1,
      value: height,
      "aria-label": `How likely a budget of ${from} to ${to} is`,
      "aria-orientation": "vertical",
      oninput: () => put(i, Number(bar.value)),
    });
    return bar;
  });
  const field = element("div", { class: "sketch" }, bars);
  const ends = element("div", { class: "strip-ticks" }, ...[low, high].map((t) => element("span", {}, say.timed(t))));
  const show = (i) => {
    bars[i].value = heights[i];
    bars[i].style.setProperty("--height", `${(100 * heights[i]) / TOP}%`);
  };

  function put(i, height) {
    if (heights[i] === height && Number(bars[i].value) === height) show(i);
    heights[i] = height;
    show(i);
    changed();
  }

  let painting = false;
  const paint = (event) => {
    const box = field.getBoundingClientRect();
    const i = Math.floor((BARS * (event.clientX - box.left)) / box.width);
    const height = Math.round(TOP * (1 - (event.clientY - box.top) / box.height));
    if (i >= 0 && i < BARS) put(i, Math.min(Math.max(height, 0), TOP));
  };
  field.addEventListener("pointerdown", (event) => {
    painting = true;
    field.setPointerCapture(event.pointerId);
    paint(event);
    event.preventDefault();
  });
  field.addEventListener("pointermove", (event) => painting && paint(event));
  for (const end of ["pointerup", "pointercancel"]) {
    field.addEventListener(end, () => (painting = false));
  }
  heights.forEach((_, i) => show(i));
  return {
    get values() {
      return heights.flatMap((height, i) => [edges[i], edges[i + 1], height]);
    },
    get heights() {
      return [...heights];
    },
    set(wanted) {
      wanted.slice(0, BARS).forEach((height, i) => {
        heights[i] = Math.min(Math.max(Math.round(height) || 0, 0), TOP);
        show(i);
      });
    },
    row: element(
      "div",
      { class: "control wide", role: "group", "aria-label": "Your own distribution of the budget" },
      element("p", { class: "quiet" }, "Draw how likely each budget is; or move the bars by the arrow keys."),
      field,
      ends,
    ),
  };
}
