// Figures that are made of a table: each has a drawing in DRAWINGS, by its name.

import { addChart } from "./charts.js";
import { DRAWINGS } from "./drawings.js";
import { PAGE } from "./page.js";
import { rowsOf, unfolded } from "./rows.js";
import { startTable } from "./tables.js";

/** All figures; a click on a pair and a time in one of them is handed on. */
export function startFigures(lookCloser) {
  for (const figure of document.querySelectorAll("figure[data-figure]")) {
    const name = figure.dataset.figure;
    if (!PAGE.figures[name]) continue;
    startTable(figure, () => unfolded(PAGE.figures[name]));
    const place = figure.querySelector(".chart.of-table");
    if (!place) continue;
    if (!DRAWINGS[name]) {
      place.remove();
      figure.querySelector("details.data").open = true;
      continue;
    }
    let rows = null; // unfolded when the figure comes near
    const chart = addChart(place, figure.dataset.title, (view) =>
      DRAWINGS[name](view, (rows ??= rowsOf(unfolded(PAGE.figures[name])))),
    );
    if (lookCloser) {
      chart.clicked = ({ pair }) => pair && lookCloser(pair.a, pair.b, pair.t ?? PAGE.times.at(-1));
    }
  }
}
