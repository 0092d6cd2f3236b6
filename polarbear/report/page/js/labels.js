// Names as a chart can show them.

import { PAGE } from "./page.js";

const LEAST_OF_A_WORD = 3; // letters
const LABELS = new Map(); // by their letters

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

/** A label whose longest words lose their ends, as far as it takes; null if too little stays. */
export function withShortWords(label, length) {
  const words = label.split(" ").map((word) => Array.from(word));
  const total = () => words.reduce((sum, word) => sum + word.length, words.length - 1);
  while (total() > length) {
    const longest = words.reduce((a, b) => (b.length > a.length ? b : a));
    if (longest.length <= LEAST_OF_A_WORD) return null;
    longest.pop();
  }
  return words.map((word) => word.join("")).join(" ");
}

/** All labels in at most this number of letters: by shorter words where these differ, otherwise cut. */
function labelsIn(length) {
  const whole = PAGE.algorithms.map((name) => PAGE.labels[name] ?? name);
  const byWords = whole.map((label) => withShortWords(label, length) ?? shortened(label, length));
  const isEnough = new Set(byWords).size === new Set(whole).size;
  const made = isEnough ? byWords : whole.map((label) => shortened(label, length));
  return new Map(PAGE.algorithms.map((name, i) => [name, made[i]]));
}

/** What figures call an algorithm, cut further where there is little room. */
export function labelOf(name, length = 22) {
  if (!LABELS.has(length)) LABELS.set(length, labelsIn(length));
  return plain(LABELS.get(length).get(name) ?? name, length);
}

/** The number of letters of a label. */
export function lettersOf(name) {
  return Array.from(PAGE.labels[name] ?? name).length;
}

/** A sentence about a pair, with its names put in; a new line after each half. */
export function ofPair(words, row) {
  return words.replace(/([;:]) /g, "$1<br>").replace(/\{([ab])\}/g, (_, side) => labelOf(row[side]));
}
