// Pairs of algorithms: as a whole, how probably the row is better than the column, then and now; and
// over time, a strip a pair in the colour of the better one, thick where that is settled, framed where
// the two are equivalent.

import { borders, nameAxis, stripRange, timeAxis, timeLabel } from "../axes.js";
import { cells, labelOf, lettersOf, ofPair, shades, towards } from "../marks.js";
import { PAGE, say } from "../page.js";
import { grouped } from "../tables.js";
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

const MOST_STRIPS = 21;
const THIN = [0.38, 0.62];
const THICK = [0.12, 0.88];

export function pairs(view, rows) {
  const strips = [...grouped(rows, (row) => JSON.stringify([row.a, row.b])).values()]
    .filter(([first]) => view.shows(first.a) && view.shows(first.b))
    .slice(0, MOST_STRIPS);
  const times = strips.length ? strips[0].map((row) => row.t) : PAGE.times;
  const log = PAGE.log_times;
  const x = borders(times, log);
  // Each strip takes four bands of the axis: a gap, then its upper edge, its middle, its lower edge.
  const bands = [0, THICK[0], THIN[0], THIN[1], THICK[1]];
  const y = [...strips.flatMap((_, i) => bands.map((band) => i - 0.5 + band)), strips.length - 0.5];
  const layers = new Map();
  const layer = (name) => {
    if (!layers.has(name)) layers.set(name, y.slice(1).map(() => times.map(() => null)));
    return layers.get(name);
  };
  strips.forEach((strip, i) => {
    strip.forEach((row, t) => {
      if (row.p_above === null) return;
      const better = row.p_above >= row.p_below ? row.a : row.b;
      const strength = Math.abs(row.p_above - row.p_below);
      const thick = row.settled === "above" || row.settled === "below";
      for (const band of thick ? [1, 2, 3] : [2])
        layer(better)[5 * i + band][t] = 0.15 + 0.85 * strength;
    });
  });
  const traces = [...layers].map(([name, z]) => cells(x, y, z, towards(view.of(name)), { zmax: 1, hoverinfo: "skip" }));
  const told = strips.map((strip) => strip.map((row) => [timeLabel(row.t), ...wordsOn(row)].join("<br>")));
  traces.push({
    ...cells(x, strips.map((_, i) => i), strips.map((strip) => strip.map(() => 0)), shades(view)),
    opacity: 0,
    customdata: told,
    hovertemplate: "%{customdata}<extra></extra>",
  });
  const length = view.narrow ? 9 : 16;
  const coloured = (name) => `<span style="color:${view.ink(name)}">${labelOf(name, length)}</span>`;
  const labels = strips.map(([first]) => `${coloured(first.a)} : ${coloured(first.b)}`);
  const pointAt = ({ pointIndex: [strip, time] }) => ({ pair: strips[strip][time] });
  return {
    traces,
    pointAt,
    layout: {
      height: strips.length * 26 + 80,
      margin: { l: 60, r: 12, t: 12, b: 48 },
      shapes: strips.flatMap((strip, i) => frames(view, strip, i, x)),
      xaxis: timeAxis(log, { showgrid: false, ...stripRange(times) }),
      yaxis: {
        ...{ tickvals: strips.map((_, i) => i), ticktext: labels, ticks: "" },
        ...{ range: [Math.max(strips.length, 1) - 0.5, -0.5], showgrid: false, zeroline: false },
      },
    },
  };
}

/** The probabilities of a pair at a time, and what was shown. */
function wordsOn(row) {
  if (row.p_above === null) return ["unknown"];
  return [
    `${labelOf(row.a)} better: ${row.p_above.toFixed(3)}`,
    `${labelOf(row.b)} better: ${row.p_below.toFixed(3)}`,
    `equivalent: ${row.p_alike.toFixed(3)}`,
    ofPair(PAGE.at_a_time[row.settled], row),
  ];
}

/** A frame around each stretch of times at which the two are equivalent. */
function frames(view, strip, i, x) {
  const made = [];
  strip.forEach((row, t) => {
    if (row.settled !== "equivalent") return;
    const before = made[made.length - 1];
    if (before && before.x1 === x[t]) before.x1 = x[t + 1];
    else
      made.push({
        ...{ type: "rect", x0: x[t], x1: x[t + 1], y0: i - 0.5 + THICK[0], y1: i - 0.5 + THICK[1] },
        line: { color: view.colour("text"), width: 1.2 },
      });
  });
  return made;
}
