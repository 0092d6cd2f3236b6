// The start of the page.

import { drawChart } from "./chart_renderer.js";
import { addChart, hidden, startDrawing, updateAll } from "./charts.js";
import { byId, copy, element, labelled } from "./dom.js";
import { startCloser } from "./instances.js";
import { PAGE } from "./page.js";
import { startRounds } from "./rounds.js";
import { startSelector } from "./selector.js";
import { startTable, tableIn } from "./tables.js";

const UNFOLDED = 8; // algorithms; a longer list of switches is folded at first
const NARROW = 720; // pixels up to which it is
const EVERY = 10000; // milliseconds between two looks
const QUIET = 20000; // milliseconds for which a reader must have touched nothing
const ROUND = "PolarBear-Round"; // the header that says which round `polarbear watch` has to show

/** One set of switches for all figures; it is their legend, too. */
function startToggles() {
  const place = byId("toggles");
  const all = PAGE.algorithms.length;
  const count = () => {
    const shown = all - hidden.size;
    byId("shown-count").textContent = shown === all ? `all ${all}` : `${shown} of ${all}`;
  };
  const switches = PAGE.algorithms.map((name) => {
    const onchange = () => {
      if (box.checked) hidden.delete(name);
      else hidden.add(name);
      count();
      updateAll();
    };
    const box = element("input", { type: "checkbox", checked: true, onchange });
    box.dataset.algorithm = name;
    return element("label", { class: "toggle", title: name }, box, labelled(name));
  });
  place.append(...switches);
  count();
  byId("shown").open = PAGE.algorithms.length <= UNFOLDED && document.documentElement.clientWidth > NARROW;
}

function startTheme() {
  const button = byId("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () =>
    (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const label = () => {
    const other = isDark() ? "Light" : "Dark";
    button.textContent = other;
    button.setAttribute("aria-label", `Switch to ${other.toLowerCase()} colours`);
  };
  const changed = () => {
    label();
    updateAll();
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    changed();
  });
  system.addEventListener("change", changed);
  label();
}

/** All figures; a click on a pair and a time in one of them is handed on. */
async function startFigures(lookCloser) {
  for (const figure of document.querySelectorAll("figure[data-figure]")) {
    const name = figure.dataset.figure;
    if (!PAGE.figures[name]) continue;
    const table = await tableIn(PAGE.figures[name]);
    startTable(figure, () => table);
    const place = figure.querySelector(".chart.of-table");
    if (!place) continue;
    if (!table.chart?.panels.length) {
      place.remove();
      figure.querySelector("details.data").open = true;
      continue;
    }
    const chart = addChart(place, figure.dataset.title, (view) => drawChart(view, table.chart));
    if (lookCloser) {
      chart.clicked = ({ pair }) => pair && lookCloser(pair.a, pair.b, pair.t ?? PAGE.times.at(-1));
    }
  }
}

/** Reload the page regularly, unless it is in use or the reader has switched that off. */
function startFollowing() {
  let touched = -Infinity;
  for (const kind of ["pointerdown", "keydown", "input", "wheel", "touchstart"]) {
    addEventListener(kind, () => (touched = performance.now()), { passive: true });
  }
  setInterval(async () => {
    const isQuiet = performance.now() - touched > QUIET;
    if (byId("follow").checked && isQuiet && !document.hidden && (await isOutdated())) {
      location.reload();
    }
  }, EVERY);
}

/** Whether there is another page to load; from disk this is unknown without loading it. */
async function isOutdated() {
  if (PAGE.served === null) return true;
  try {
    const answer = await fetch(location.href, { method: "HEAD" });
    return answer.ok && answer.headers.get(ROUND) !== PAGE.served;
  } catch {
    return false; // the server has ended: the open page stays readable
  }
}

startTheme();
startToggles();
if (PAGE.selector) startSelector(PAGE.selector);
byId("copy")?.addEventListener("click", (event) => copy(byId("command"), event.target));
if (PAGE.moments.length) startRounds(PAGE.moments);
const lookCloser = PAGE.closer ? startCloser(PAGE.closer) : null;
if (PAGE.follows) startFollowing();
performance.mark("polarbear-answers");
startFigures(lookCloser).then(startDrawing);
