// Names as a chart can show them.

import { PAGE } from "./page.js";

/** A name cut in the middle. */
export function shortened(name, length = 22) {
  const letters = Array.from(name.replace(/\s+/g, " "));
  if (letters.length <= length) return letters.join("");
  const half = Math.floor((length - 1) / 2);
  return `${letters.slice(0, half).join("")}…${letters.slice(-half).join("")}`;
}

/** A name for a chart: Plotly would read tags and entities in it, and mix directions. */
export function plain(name, length = 22) {
  const safe = shortened(name, length)
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;");
  return `\u2068${safe}\u2069`;
}

/** What figures call an algorithm, cut further where there is little room. */
export function labelOf(name, length = 22) {
  return plain(PAGE.labels[name] ?? name, length);
}

/** The number of letters of a label. */
export function lettersOf(name) {
  return Array.from(PAGE.labels[name] ?? name).length;
}

/** A sentence about a pair, with its names put in; a new line after each half. */
export function ofPair(words, row) {
  return words.replace(/([;:]) /g, "$1<br>").replace(/\{([ab])\}/g, (_, side) => labelOf(row[side]));
}
