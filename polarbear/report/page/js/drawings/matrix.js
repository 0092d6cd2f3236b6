// Pairs as a whole: how probably the row is better than the column, then and now.

import { nameAxis } from "../axes.js";
import { labelOf, lettersOf, ofPair } from "../labels.js";
import { cells, shades } from "../marks.js";
import { PAGE, say } from "../page.js";
import { entryText } from "../wording.js";

/** The same where there is hardly any room, without the zero before the point. */
const cellText = (value) => (value === null ? "–" : say.mark(value).replace(" 0", "").replace(/^0/, ""));

export function matrix(view, rows) {
  const names = [...new Set(rows.map((row) => row.a))].filter(view.shows);
  const place = new Map(names.map((name, i) => [name, i]));
  const blank = () => names.map(() => names.map(() => null));
  const [z, text, hover] = [blank(), blank(), blank()];
  names.forEach((_, i) => (text[i][i] = ""));
  const room = (view.width - 120) / Math.max(names.length, 1);
  for (const row of rows) {
    if (!place.has(row.a) || !place.has(row.b)) continue;
    const [y, x] = [place.get(row.a), place.get(row.b)];
    const sign = PAGE.verdicts[row.verdict].sign.replace("<", "&lt;").replace(">", "&gt;");
    z[y][x] = row.probability;
    const now = row.probability === null ? "–" : entryText(row.probability);
    const then = row.decided === null ? now : entryText(row.decided);
    const decided = then === now ? "" : `<br>(${then})`; // below: beside it there is no room
    text[y][x] =
      room > 58 ? `${now} ${sign}${decided}` : room > 34 ? `${cellText(row.probability)}<br>${sign}` : sign;
    const present = row.probability === null ? "unknown" : row.probability.toFixed(4);
    hover[y][x] = [
      PAGE.chance.replace("{a}", labelOf(row.a)),
      `against ${labelOf(row.b)}: ${present}`,
      ...(row.decided === null ? [] : [`when it was decided: ${row.decided.toFixed(4)}`]),
      ofPair(PAGE.verdicts[row.verdict].words, row),
    ].join("<br>");
  }
  const height = Math.min(Math.max(names.length * 40, 120), 560) + 90;
  const pointAt = ({ pointIndex: [a, b] }) => ({ pair: a === b ? null : { a: names[a], b: names[b] } });
  return {
    pointAt,
    traces: [
      cells(undefined, undefined, z, shades(view), {
        ...{ text, texttemplate: "%{text}", textfont: { size: 11 } },
        ...{ customdata: hover, hovertemplate: "%{customdata}<extra></extra>", hoverongaps: false },
        ...{ zmax: 1, xgap: 2, ygap: 2 },
      }),
    ],
    layout: {
      height,
      margin: { l: 20, r: 12, t: 20, b: 12 },
      xaxis: nameAxis(view, names, {
        ...{ side: "top", showline: false, ticks: "" },
        tickangle: 8.5 * Math.max(...names.map((name) => lettersOf(name) + 2), 0) > room ? -90 : 0,
      }),
      yaxis: nameAxis(view, names, { autorange: "reversed", showline: false, ticks: "" }),
    },
  };
}
