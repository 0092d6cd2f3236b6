// Tables of figures: as text beside the picture, and as files to take away.

import { download, element } from "./dom.js";
import { PAGE, say } from "./page.js";

const ROWS_SHOWN = 200;

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
  const numeric = table.data.map((column) => column.some((value) => typeof value === "number"));
  const head = element(
    "tr",
    {},
    table.columns.map((name, i) =>
      element("th", { scope: "col", class: numeric[i] ? "number" : null }, name.replace(/_/g, " ")),
    ),
  );
  const rows = [];
  for (let row = 0; row < Math.min(table.rows, ROWS_SHOWN); row++) {
    rows.push(
      element(
        "tr",
        {},
        table.data.map((column, i) =>
          element(
            "td",
            { class: numeric[i] ? "number" : null },
            element("bdi", {}, shownValue(column[row])),
          ),
        ),
      ),
    );
  }
  return element("table", { "aria-label": label }, element("thead", {}, head), element("tbody", {}, rows));
}

/** The buttons under a figure: its numbers as a file, and as a table in the page. */
export function startTable(figure, table) {
  const details = figure.querySelector("details.data");
  const whole = () => (typeof table === "function" ? table() : table);
  const name = `${PAGE.name}-${figure.dataset.figure}.csv`;
  figure
    .querySelector("button.csv")
    .addEventListener("click", () => download(name, csvOf(whole())));
  details.addEventListener("toggle", () => {
    if (!details.open) return;
    const { rows, ...rest } = whole();
    const place = details.querySelector(".table");
    place.replaceChildren(tableElement({ rows, ...rest }, figure.getAttribute("aria-label")));
    if (rows > ROWS_SHOWN) {
      const words = `The first ${ROWS_SHOWN} of ${say.whole(rows)} rows; the CSV file has all of them.`;
      place.append(element("p", { class: "quiet" }, words));
    }
  });
}
