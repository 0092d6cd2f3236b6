// Figures in which each algorithm has a row: values under preferences, and the AOCC of every run.

import { axisId, labelOf, lettersBeside, lettersOf, note, plain, silent, titled, withAlpha } from "../marks.js";
import { PAGE, say } from "../page.js";
import { grouped } from "../tables.js";

const HEAD = 34; // pixels above the rows of a panel

/**
 * Panels [title, rows] with a row of `strip` pixels for each name and `foot` pixels below.
 *
 * `numbers` is the heading of the numbers, `above` how far rows reach beyond the first and last;
 * xaxis(isLast) is the axis of a panel, paint(name, rows, place) gives its traces and number.
 */
function rowPanels(view, panels, names, { strip, foot, numbers, above, xaxis }, paint) {
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
    layout[`xaxis${id}`] = { domain: [left, right], anchor: y, zeroline: false, ...xaxis(row === down - 1) };
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

const HOVER =
  "%{customdata[0]}<br>median %{x:.4f}, mean %{customdata[3]:.4f}<br>" +
  "95 %: %{customdata[1]:.4f} to %{customdata[2]:.4f}<br>%{meta} %{customdata[4]:.3f}<extra></extra>";

/** The value of each candidate under several preferences: a hill, its median and 95 % interval. */
export function values(view, rows) {
  const names = [...new Set(rows.map((row) => row.algorithm))].filter(view.shows);
  const xaxis = (isLast) => ({ nticks: 5, ...(isLast ? { title: titled("value", 4) } : {}) });
  const form = { strip: 30, foot: 56, numbers: PAGE.words.p_best, above: [0.75, 0.35], xaxis };
  const panels = [...grouped(rows, (row) => row.title)];
  return rowPanels(view, panels, names, form, (name, points, place) => {
    const color = view.of(name);
    const { low, median, high, mean, p_best: best } = points[0];
    const drawn = [silent([low, high], [place, place], { color, width: 2 })];
    const top = Math.max(...points.map((point) => point.density ?? 0));
    if (top > 0) {
      const at = points.map((point) => point.value);
      const hill = points.map((point) => place - (0.72 * point.density) / top);
      const fill = { fill: "tonexty", fillcolor: withAlpha(color, 0.35) };
      drawn.unshift(silent(at, points.map(() => place), { width: 0 }), silent(at, hill, { width: 0 }, fill));
    }
    drawn.push({
      ...{ x: [median], y: [place], mode: "markers", marker: { color, size: 8 } },
      customdata: [[labelOf(name), low, high, mean, best]],
      meta: PAGE.words.p_best,
      hovertemplate: HOVER,
    });
    return { drawn, number: say.mark(best) };
  });
}

/** The area over the convergence curve, run by run. */
export function aocc(view, rows) {
  const titles = { linear: "over time", log: "over log time" };
  const panels = [...grouped(rows, (row) => row.time)].map(([time, some]) => [titles[time], some]);
  const names = [...new Set(rows.map((row) => row.algorithm))].filter(view.shows);
  const xaxis = () => ({ range: [-0.02, 1.02], nticks: 6, title: titled("AOCC", 4) });
  const form = { strip: 32, foot: 52, numbers: "mean", above: [0.5, 0.5], xaxis };
  return rowPanels(view, panels, names, form, (name, mine, place) => {
    const { mean, low, high } = mine[0];
    const text = view.colour("text");
    const alpha = Math.min(0.6, Math.max(0.2, 20 / mine.length));
    const drawn = [
      {
        x: mine.map((one) => one.aocc),
        y: mine.map((_, k) => place + 0.26 * (2 * ((0.5 + k * 0.618034) % 1) - 1)),
        mode: "markers",
        marker: { color: withAlpha(view.of(name), alpha), size: 6 },
        customdata: mine.map((one) => [labelOf(name), plain(one.instance, 40)]),
        hovertemplate: "%{customdata[0]} on %{customdata[1]}<br>%{x:.3f}<extra></extra>",
      },
      {
        ...{ x: [mean], y: [place], mode: "markers" },
        marker: { symbol: "line-ns-open", size: 14, line: { width: 2 }, color: text },
        hovertemplate: `${labelOf(name).replace(/%/g, "&#37;")}: mean %{x:.3f}<extra></extra>`,
      },
    ];
    if (low !== null) drawn.push(silent([low, high], [place, place], { color: text, width: 1.5 }));
    return { drawn, number: mean.toFixed(2) };
  });
}
