// What each candidate is worth under several preferences: a hill, its median and 95 % interval.

import { labelOf, lettersOf } from "../labels.js";
import { axisId, silent, titled, withAlpha } from "../marks.js";
import { PAGE, say } from "../page.js";
import { panelHeads, rowEnds, rowsAxis } from "../rowpanels.js";
import { grouped } from "../rows.js";

export function values(view, rows) {
  const titles = [...grouped(rows, (row) => row.title)];
  const names = [...new Set(rows.map((row) => row.algorithm))].filter(view.shows);
  const across = view.narrow || titles.length === 1 ? 1 : 2;
  const down = Math.ceil(titles.length / across);
  const [strip, head, foot] = [30, 34, 30]; // pixels of a row, and above and below a panel's rows
  const panel = names.length * strip + head + foot;
  const inner = down * panel;
  const letters = Math.min(view.narrow ? 11 : 16, Math.max(...names.map(lettersOf), 1));
  const beside = 8 * letters + 16; // pixels
  const traces = [];
  const layout = { height: inner + 40, margin: { l: 10, r: 10, t: 0, b: 40 }, annotations: [] };
  titles.forEach(([title, some], i) => {
    const [column, row] = [i % across, Math.floor(i / across)];
    const id = axisId(i);
    const left = column / across + beside / view.width;
    const right = (column + 1) / across - 84 / view.width;
    const top = 1 - (row * panel + head) / inner;
    const bottom = 1 - ((row + 1) * panel - foot) / inner;
    layout[`xaxis${id}`] = {
      domain: [left, right],
      anchor: `y${id}`,
      nticks: 5,
      zeroline: false,
      range: seenRange(some, names),
      ...(row === down - 1 ? { title: titled("value", 4) } : {}),
    };
    layout[`yaxis${id}`] = rowsAxis(id, [bottom, top], [names.length - 0.35, -0.75]);
    const sides = { left, right, top };
    layout.annotations.push(...panelHeads(view, title, PAGE.words.p_best, sides));
    for (const [name, points] of grouped(some, (point) => point.algorithm)) {
      if (!names.includes(name)) continue;
      const place = names.indexOf(name);
      const colour = view.of(name);
      const axes = { xaxis: `x${id}`, yaxis: `y${id}` };
      const highest = Math.max(...points.map((point) => point.density ?? 0));
      if (highest > 0) {
        const at = points.map((point) => point.value);
        const hill = points.map((point) => place - (0.72 * point.density) / highest);
        const fill = { fill: "tonexty", fillcolor: withAlpha(colour, 0.35) };
        traces.push(silent(at, points.map(() => place), { width: 0 }, axes));
        traces.push(silent(at, hill, { width: 0 }, { ...axes, ...fill }));
      }
      const { low, median, high, mean, p_best: best } = points[0];
      traces.push(silent([low, high], [place, place], { color: colour, width: 2 }, axes));
      traces.push({
        ...axes,
        x: [median],
        y: [place],
        mode: "markers",
        marker: { color: colour, size: 8 },
        customdata: [[labelOf(name), low, high, mean, best]],
        meta: PAGE.words.p_best,
        hovertemplate:
          "%{customdata[0]}<br>median %{x:.4f}, mean %{customdata[3]:.4f}<br>95 %: %{customdata[1]:.4f} to %{customdata[2]:.4f}<br>%{meta} %{customdata[4]:.3f}<extra></extra>",
      });
      layout.annotations.push(
        ...rowEnds(id, labelOf(name, letters), say.mark(best), place - 0.2, view.ink(name), sides),
      );
    }
  });
  return { traces, layout };
}

/** Where there is something to see: hills without their thin ends. */
function seenRange(points, names) {
  const ends = [];
  for (const [name, mine] of grouped(points, (point) => point.algorithm)) {
    if (!names.includes(name)) continue;
    const highest = Math.max(...mine.map((point) => point.density ?? 0));
    ends.push(
      mine[0].low,
      mine[0].high,
      ...mine.filter((point) => point.density > 0.01 * highest).map((point) => point.value),
    );
  }
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const pad = 0.04 * (high - low) || 0.01;
  return [low - pad, high + pad];
}
