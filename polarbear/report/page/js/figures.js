// Figures that are made of a table: each has a drawing in DRAWINGS, by its name.

import { addChart } from "./charts.js";
import { allocation } from "./drawings/allocation.js";
import { eaf, eafDifference } from "./drawings/attainment.js";
import { aocc, ecdf } from "./drawings/curves.js";
import { rounds } from "./drawings/evolution.js";
import { matrix } from "./drawings/matrix.js";
import { pairs } from "./drawings/pairs.js";
import { diagnostics, failures } from "./drawings/trust.js";
import { values } from "./drawings/values.js";
import { PAGE } from "./page.js";
import { rowsOf, tableIn } from "./rows.js";
import { startTable } from "./tables.js";

const DRAWINGS = {
  ...{ allocation, aocc, diagnostics, eaf, ecdf, failures, matrix, pairs, rounds, values },
  "eaf-difference": eafDifference,
};

/** All figures; a click on a pair and a time in one of them is handed on. */
export async function startFigures(lookCloser) {
  for (const figure of document.querySelectorAll("figure[data-figure]")) {
    const name = figure.dataset.figure;
    if (!PAGE.figures[name]) continue;
    const table = await tableIn(PAGE.figures[name]);
    startTable(figure, () => table);
    const place = figure.querySelector(".chart.of-table");
    if (!place) continue;
    if (!DRAWINGS[name]) {
      place.remove();
      figure.querySelector("details.data").open = true;
      continue;
    }
    const rows = rowsOf(table);
    const chart = addChart(place, figure.dataset.title, (view) => DRAWINGS[name](view, rows));
    if (lookCloser) {
      chart.clicked = ({ pair }) => pair && lookCloser(pair.a, pair.b, pair.t ?? PAGE.times.at(-1));
    }
  }
}
