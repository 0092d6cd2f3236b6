// The start of the page.

import { hidden, startDrawing, updateAll } from "./charts.js";
import { startCloser } from "./instances.js";
import { byId, copy, element, labelled } from "./dom.js";
import { startFigures } from "./figures.js";
import { startFollowing } from "./following.js";
import { PAGE } from "./page.js";
import { startRounds } from "./rounds.js";
import { startSelector } from "./selector.js";

const UNFOLDED = 8; // algorithms; a longer list of switches is folded at first
const NARROW = 720; // pixels up to which it is

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

startTheme();
startToggles();
if (PAGE.selector) startSelector(PAGE.selector);
byId("copy")?.addEventListener("click", (event) => copy(byId("command"), event.target));
if (PAGE.moments.length) startRounds(PAGE.moments);
const lookCloser = PAGE.closer ? startCloser(PAGE.closer) : null;
if (PAGE.follows) startFollowing();
performance.mark("polarbear-answers");
startFigures(lookCloser).then(startDrawing);
