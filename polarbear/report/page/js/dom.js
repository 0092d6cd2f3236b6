// Elements of the page. Names from the store reach it as text only, never as markup.

import { PAGE } from "./page.js";

/** An element with attributes, listeners (onclick: ...) and children; strings become text. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null));
  return made;
}

export function byId(id) {
  return document.getElementById(id);
}

/** A name whose letters may run in another direction than the text around it. */
export function nameElement(name) {
  const label = PAGE.labels[name] ?? name;
  const kind = label.length > 14 ? "name" : "name short";
  return element("bdi", { class: kind, title: label === name ? null : name }, label);
}

/** A coloured mark of an algorithm beside its name. */
export function labelled(name) {
  return element("span", { class: "labelled" }, swatch(name), nameElement(name));
}

function swatch(name) {
  const place = PAGE.algorithms.indexOf(name);
  const turn = Math.floor(place / PAGE.colours); // colours come again, marks then look different
  return element("span", {
    class: `swatch turn-${Math.min(turn, 2)}`,
    style: `--colour: var(--algorithm-${place})`,
    "aria-hidden": "true",
  });
}

/** A table of columns [heading, is it a number, class] and rows of cells; the first may be a row's heading. */
export function tableOf(label, columns, rows, hasRowHeads = true) {
  const kind = ([, isNumber, more]) => [isNumber ? "number" : null, more].filter(Boolean).join(" ") || null;
  const head = columns.map((column) => element("th", { scope: "col", class: kind(column) }, column[0]));
  const cellOf = (cell, i) => {
    if (cell.tagName === "TD") return cell;
    if (i === 0 && hasRowHeads) return element("th", { scope: "row" }, cell);
    return element("td", { class: kind(columns[i]) }, cell);
  };
  const body = rows.map((row) => element("tr", {}, row.map(cellOf)));
  return element(
    "table",
    { "aria-label": label },
    element("thead", {}, element("tr", {}, head)),
    element("tbody", {}, body),
  );
}

/** Hand a text to the reader as a file. */
export function download(name, text, type = "text/csv") {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** Copy a text; where the browser does not allow it, select it for the reader to copy. */
export async function copy(source, button) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(source);
    button.textContent = "Selected";
  }
  setTimeout(() => (button.textContent = "Copy"), 1500);
}
