// Panels in which each algorithm has a row: its name on the left, a number on the right.

import { labelOf, lettersOf } from "./labels.js";
import { axisId, lettersBeside, note } from "./marks.js";
import { grouped } from "./rows.js";

const HEAD = 34; // pixels above the rows of a panel

/**
 * Panels [title, rows] with a row of `strip` pixels for each name and `foot` pixels below.
 *
 * `numbers` is the heading of the numbers, `above` how far rows reach beyond the first and last;
 * xaxis(rows, isLast) is the axis of a panel, paint(name, rows, place) gives its traces and number.
 */
export function rowPanels(view, panels, names, { strip, foot, numbers, above, xaxis }, paint) {
  const across = view.narrow ? 1 : Math.min(panels.length, 2);
  const down = Math.ceil(panels.length / across);
  const high = names.length * strip + HEAD + foot;
  const letters = Math.min(lettersBeside(view), Math.max(...names.map(lettersOf), 1));
  const traces = [];
  const layout = { height: down * high, margin: { l: 8, r: 8, t: 0, b: 0 }, annotations: [] };
  panels.forEach(([title, rows], i) => {
    const [column, row] = [i % across, Math.floor(i / across)];
    const id = axisId(i);
    const [x, y] = [`x${id}`, `y${id}`];
    const left = column / across + (8 * letters + 18) / view.width;
    const right = (column + 1) / across - (9 * numbers.length + 18) / view.width;
    const [top, bottom] = [row * high + HEAD, (row + 1) * high - foot].map((at) => 1 - at / (down * high));
    const range = [names.length - above[1], -above[0]];
    const bare = { showticklabels: false, showgrid: false, zeroline: false, ticks: "" };
    layout[`xaxis${id}`] = { domain: [left, right], anchor: y, zeroline: false, ...xaxis(rows, row === down - 1) };
    layout[`yaxis${id}`] = { domain: [bottom, top], anchor: x, range, ...bare };
    const over = { xref: "paper", yref: "paper", yshift: 4, xanchor: "left", yanchor: "bottom" };
    const font = { size: 11, color: view.colour("soft") };
    layout.annotations.push(note(`<b>${title}</b>`, left, top, over));
    layout.annotations.push(note(numbers, right, top, { ...over, xshift: 6, font }));
    const shown = [...grouped(rows, (one) => one.algorithm)].filter(([name]) => names.includes(name));
    shown.forEach(([name, mine], place) => {
      const { drawn, number } = paint(name, mine, place);
      traces.push(...drawn.map((trace) => ({ ...trace, xaxis: x, yaxis: y })));
      const beside = { xref: "paper", yref: y, font: { color: view.ink(name) } };
      const text = labelOf(name, letters);
      layout.annotations.push(note(text, left, place, { ...beside, xshift: -8, xanchor: "right" }));
      layout.annotations.push(note(number, right, place, { ...beside, xshift: 6, xanchor: "left" }));
    });
  });
  return { traces, layout };
}
