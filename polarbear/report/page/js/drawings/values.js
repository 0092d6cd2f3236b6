// What each candidate is worth under several preferences: a hill, its median and 95 % interval.

import { labelOf } from "../labels.js";
import { silent, titled, withAlpha } from "../marks.js";
import { PAGE, say } from "../page.js";
import { rowPanels } from "../rowpanels.js";
import { grouped } from "../rows.js";

const HOVER =
  "%{customdata[0]}<br>median %{x:.4f}, mean %{customdata[3]:.4f}<br>" +
  "95 %: %{customdata[1]:.4f} to %{customdata[2]:.4f}<br>%{meta} %{customdata[4]:.3f}<extra></extra>";

const highest = (points) => Math.max(...points.map((point) => point.density ?? 0));

export function values(view, rows) {
  const names = [...new Set(rows.map((row) => row.algorithm))].filter(view.shows);
  const xaxis = (some, isLast) => ({
    nticks: 5,
    range: seenRange(some, names),
    ...(isLast ? { title: titled("value", 4) } : {}),
  });
  const form = { strip: 30, foot: 56, numbers: PAGE.words.p_best, above: [0.75, 0.35], xaxis };
  const panels = [...grouped(rows, (row) => row.title)];
  return rowPanels(view, panels, names, form, (name, points, place) => {
    const color = view.of(name);
    const { low, median, high, mean, p_best: best } = points[0];
    const drawn = [silent([low, high], [place, place], { color, width: 2 })];
    const top = highest(points);
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

/** Where there is something to see: hills without their thin ends. */
function seenRange(points, names) {
  const ends = [];
  for (const [name, mine] of grouped(points, (point) => point.algorithm)) {
    if (!names.includes(name)) continue;
    const least = 0.01 * highest(mine);
    const seen = mine.filter((point) => point.density > least).map((point) => point.value);
    ends.push(mine[0].low, mine[0].high, ...seen);
  }
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const pad = 0.04 * (high - low) || 0.01;
  return [low - pad, high + pad];
}
