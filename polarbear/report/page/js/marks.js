// Marks that several charts share: names, lines, bands, cells, labels at the ends of lines.

import { PAGE } from "./page.js";

const LETTERS = { wide: 16, narrow: 11 }; // of a name beside a chart

/** A name cut in the middle. */
export function shortened(name, length = 22) {
  const letters = Array.from(name.replace(/\s+/g, " "));
  if (letters.length <= length) return letters.join("");
  const half = Math.floor((length - 1) / 2);
  return `${letters.slice(0, half).join("")}…${letters.slice(-half).join("")}`;
}

/** A name for a chart: Plotly would read tags and entities in it, and mix directions. */
export function plain(name, length = 22) {
  return `\u2068${markup(shortened(name, length))}\u2069`;
}

/** What figures call an algorithm, cut further where there is little room. */
export function labelOf(name, length = 22) {
  return plain(PAGE.labels[name] ?? name, length);
}

/** The number of letters of a label. */
export function lettersOf(name) {
  return Array.from(PAGE.labels[name] ?? name).length;
}

/** A text from Python as Plotly takes it: no tags, no entities, a line for each of its lines. */
export function markup(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/\n/g, "<br>");
}

/** Increasing places moved apart to at least a gap. */
export function apart(values, gap, low, high) {
  const places = [...values];
  places.forEach((place, i) => (places[i] = Math.max(place, i ? places[i - 1] + gap : low)));
  for (let i = places.length - 1, most = high; i >= 0; i--, most = places[i + 1] - gap)
    places[i] = Math.min(places[i], most);
  return places;
}

export const lettersBeside = (view) => (view.narrow ? LETTERS.narrow : LETTERS.wide);

/** Pixels that the names at the ends of lines take, with brackets around eliminated ones. */
export function labelRoom(view, names) {
  const longest = Math.max(0, ...names.map(lettersOf));
  return 14 + Math.ceil((view.narrow ? 6.4 : 7.4) * (Math.min(longest, lettersBeside(view)) + 3));
}

/** The label of an algorithm, in brackets if it is eliminated. */
export function bracketed(name, length, isOut) {
  return isOut ? `(${labelOf(name, length)})` : labelOf(name, length);
}

/** Ends of lines with their names, moved apart so that none covers another. */
export function endLabels(view, lines, low, high, height) {
  const line = Math.min(view.narrow ? 14 : 16, height / Math.max(lines.length, 1));
  const gap = (line * (high - low)) / height;
  const sorted = [...lines].sort((a, b) => a.y - b.y);
  const places = apart(sorted.map(({ y }) => y), gap, low, high);
  const beside = { xref: "paper", xanchor: "left", xshift: 6, yanchor: "middle" };
  return sorted.map(({ name, out }, i) => {
    const font = { color: view.ink(name), size: Math.min(view.narrow ? 11 : 12, line) };
    return note(bracketed(name, lettersBeside(view), out), 1, places[i], { ...beside, font });
  });
}

/** A colour through which others can be seen. */
export function withAlpha(colour, alpha) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return `rgba(${r},${g},${b},${alpha})`;
}

/** The times; of a single time, places beside it, so that no bar covers another. */
export function apartOnAxis(times, place, count) {
  return times.length > 1 ? times : [times[0] * (1 + 0.12 * ((place + 0.5) / count - 0.5))];
}

/** The area between two curves; a bar where there is a single time. */
export function bandOf(times, low, high, colour, alpha) {
  if (times.length === 1) {
    const line = { color: withAlpha(colour, 0.6), width: 3 };
    return silent([times[0], times[0]], [low[0], high[0]], line);
  }
  const x = [...times, ...[...times].reverse()];
  const fill = { fill: "toself", fillcolor: withAlpha(colour, alpha) };
  return silent(x, [...high, ...[...low].reverse()], { width: 0 }, fill);
}

/** A line without a tooltip. */
export function silent(x, y, line, more = {}) {
  return { x, y, mode: "lines", line, hoverinfo: "skip", ...more };
}

/** The line of an algorithm, a marker where it has one point; hover is the text of its tooltip. */
export function lineOf(view, name, x, y, width, customdata, hover, more = {}) {
  const color = view.of(name);
  return {
    ...{ x, y, mode: x.length > 1 ? "lines" : "markers", customdata },
    line: { color, dash: view.dash(name), width },
    marker: { color, size: 9 },
    hovertemplate: `${hover}<extra></extra>`,
    ...more,
  };
}

/** Cells whose shade is an amount from 0 to the end of the scale. */
export function cells(x, y, z, scale, more = {}) {
  return { type: "heatmap", x, y, z, zmin: 0, colorscale: scale, showscale: false, ...more };
}

/** The scale of amounts. */
export const shades = (view) => [[0, view.colour("least")], [1, view.colour("most")]];

/** A scale from nothing to a colour. */
export const towards = (colour) => [[0, withAlpha(colour, 0)], [1, colour]];

/** A text without an arrow. */
export function note(text, x, y, more = {}) {
  return { text, x, y, showarrow: false, ...more };
}

/** A title of an axis. */
export const titled = (text, standoff = 6) => ({ text, standoff });
