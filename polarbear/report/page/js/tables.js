// Tables of figures: read from the page, shown in it, and as CSV files to download.

import { download, element, tableOf } from "./dom.js";
import { inflated } from "./packing.js";
import { PAGE, say } from "./page.js";

const ROWS_SHOWN = 200;

/** The table of a figure by columns, which the page carries compressed. */
export async function tableIn(text) {
  return JSON.parse(new TextDecoder().decode(await inflated(text)));
}

export function csvOf(table) {
  const quoted = (value) => {
    if (value === null || value === undefined) return "";
    const text = String(value);
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const lines = [table.columns.map(quoted).join(",")];
  for (let row = 0; row < table.rows; row++)
    lines.push(table.data.map((column) => quoted(column[row])).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

export function shownValue(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number"
    ? Number(value.toPrecision(5)).toLocaleString("en", { maximumSignificantDigits: 5 })
    : value;
}

function tableElement(table, label) {
  const isNumeric = (column) => column.some((value) => typeof value === "number");
  const columns = table.columns.map((name, i) => [name.replace(/_/g, " "), isNumeric(table.data[i])]);
  const rows = Array.from({ length: Math.min(table.rows, ROWS_SHOWN) }, (_, row) =>
    table.data.map((column) => element("bdi", {}, shownValue(column[row]))),
  );
  return tableOf(label, columns, rows, false);
}

/** The buttons under a figure: its numbers as a file, and as a table in the page. */
export function startTable(figure, table) {
  const details = figure.querySelector("details.data");
  const name = `${PAGE.name}-${figure.dataset.figure}.csv`;
  figure.querySelector("button.csv").addEventListener("click", () => download(name, csvOf(table())));
  details.addEventListener("toggle", () => {
    if (!details.open) return;
    const whole = table();
    const { rows } = whole;
    const place = details.querySelector(".table");
    place.replaceChildren(tableElement(whole, figure.getAttribute("aria-label")));
    if (rows > ROWS_SHOWN) {
      const words = `The first ${ROWS_SHOWN} of ${say.whole(rows)} rows; the CSV file has all of them.`;
      place.append(element("p", { class: "quiet" }, words));
    }
  });
}
