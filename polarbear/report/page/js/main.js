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
    const box = element("input", {
      type: "checkbox",
      checked: true,
      onchange: () => {
        if (box.checked) hidden.delete(name);
        else hidden.add(name);
        count();
        updateAll();
      },
    });
    box.dataset.algorithm = name;
    return element("label", { class: "toggle", title: name }, box, labelled(name));
  });
  place.append(...switches);
  count();
  byId("shown").open = PAGE.algorithms.length <= UNFOLDED && document.documentElement.clientWidth > NARROW;
}

function startTheme() {
  const button = byId("theme");
  const isDark = () =>
    (document.documentElement.dataset.theme ||
      (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const label = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute(
      "aria-label",
      isDark() ? "Switch to light colours" : "Switch to dark colours",
    );
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    label();
    updateAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    label();
    updateAll();
  });
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
