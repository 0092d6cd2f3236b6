// Charts: drawn when they come near the window, redrawn when algorithms are toggled, the theme
// changes or the page is printed.

import { fewerTicks } from "./axes.js";
import { byId, element } from "./dom.js";
import { inflated } from "./packing.js";
import { PAGE } from "./page.js";

const PRINTED_WIDTH = 760; // pixels, which paper shows smaller
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"]; // where colours come again
const MARGINS = 130; // pixels beside the panel of a chart
const CHARTS = [];
let printing = false;
let themeOnScreen; // kept while the page is printed
export const hidden = new Set(); // names that the reader has switched off

/** Add a chart; make(view) gives { traces, layout } for the present width, theme and toggles. */
export function addChart(place, label, make) {
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", label);
  const chart = { place, make, near: false, drawn: false };
  CHARTS.push(chart);
  nearby.observe(place);
  resized.observe(place);
  return chart;
}

const nearby = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      const chart = CHARTS.find((one) => one.place === entry.target);
      chart.near = entry.isIntersecting;
      if (chart.near && !chart.drawn) draw(chart);
    }
  },
  { rootMargin: "400px" },
);

const resized = new ResizeObserver((entries) => {
  for (const entry of entries) {
    const chart = CHARTS.find((one) => one.place === entry.target);
    const width = Math.round(entry.contentRect.width);
    if (chart.drawn && width > 0 && width !== chart.width && !printing) {
      requestAnimationFrame(() => draw(chart));
    }
  }
});

/** Draw with the next frame, once, however often it is asked for; out of sight, when it comes there. */
export function update(chart) {
  chart.drawn = false;
  delete chart.place.dataset.drawn;
  if (chart.waiting) return;
  chart.waiting = true;
  requestAnimationFrame(() => {
    chart.waiting = false;
    if (chart.near) draw(chart);
  });
}

export const updateAll = () => CHARTS.forEach(update);

function draw(chart) {
  if (typeof Plotly === "undefined") return; // the selector answers before that is read
  const width = printing ? PRINTED_WIDTH : chart.place.clientWidth;
  if (!width) return;
  chart.width = width;
  chart.drawn = true;
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const view = {
    width,
    narrow: width < 560,
    colour,
    of: (name) => colour(`algorithm-${PAGE.algorithms.indexOf(name)}`),
    ink: (name) => colour(`ink-${PAGE.algorithms.indexOf(name)}`),
    dash: (name) =>
      DASHES[Math.floor(PAGE.algorithms.indexOf(name) / PAGE.colours) % DASHES.length],
    shows: (name) => !hidden.has(name),
  };
  const { traces, layout, pointAt } = chart.make(view);
  chart.pointAt = pointAt;
  const touch = matchMedia("(pointer: coarse)").matches;
  const config = { displaylogo: false, displayModeBar: false, responsive: false, doubleClick: "reset" };
  Plotly.react(chart.place, traces, layoutOf(view, layout, touch), config);
  if (pointAt && chart.clicked && !chart.listens) {
    chart.listens = true;
    chart.place.on("plotly_click", ({ points: [point] }) => chart.clicked(chart.pointAt(point)));
  }
  // Its label and its table speak for a chart: its pieces are not to be read one by one.
  for (const drawing of document.querySelectorAll(".chart svg, #js-plotly-tester"))
    drawing.setAttribute("aria-hidden", "true");
  chart.place.dataset.drawn = "yes";
}

/** What all charts have in common: quiet axes, the page's letters and colours. */
function layoutOf(view, layout, touch) {
  const axis = {
    gridcolor: view.colour("grid"),
    linecolor: view.colour("line"),
    zerolinecolor: view.colour("grid"),
    tickcolor: view.colour("line"),
    automargin: true,
    fixedrange: touch || printing,
  };
  const color = view.colour("text");
  const merged = {
    width: view.width,
    height: view.narrow ? 320 : 400,
    margin: { l: 52, r: 16, t: 12, b: 48, pad: 2 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: view.narrow ? 11 : 13, color },
    hoverlabel: {
      ...{ bgcolor: view.colour("card"), bordercolor: view.colour("line"), namelength: -1 },
      font: { color, size: 12 },
    },
    showlegend: false,
    dragmode: touch ? false : "zoom",
    hovermode: "closest",
    ...layout,
  };
  for (const name of Object.keys(merged)) {
    if (/^[xy]axis\d*$/.test(name)) merged[name] = { ...axis, ...fitted(view, merged[name]) };
  }
  return merged;
}

/** An axis with as many ticks as fit; where ticks stand in an array, they were chosen before. */
function fitted(view, axis) {
  if (axis.type !== "log" || !axis.tickvals || axis.tickmode === "array") return axis;
  const [from, to] = axis.domain ?? [0, 1];
  return fewerTicks(axis, (to - from) * (view.width - MARGINS));
}

/** Read plotly.js, which came compressed, and draw what is in sight. */
export async function startDrawing() {
  const text = new TextDecoder().decode(await inflated(byId("plotly").textContent));
  document.head.append(element("script", {}, text)); // the page's policy knows its fingerprint
  updateAll();
  performance.mark("polarbear-draws");
}

// Paper is light and narrow, and nothing can be unfolded on it.
addEventListener("beforeprint", () => {
  printing = true;
  themeOnScreen = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  for (const details of document.querySelectorAll("details.long")) details.open = true;
  CHARTS.forEach(draw);
});
addEventListener("afterprint", () => {
  printing = false;
  if (themeOnScreen) document.documentElement.dataset.theme = themeOnScreen;
  else delete document.documentElement.dataset.theme;
  updateAll();
});
