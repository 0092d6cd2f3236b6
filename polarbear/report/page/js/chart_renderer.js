// Draws the description of a chart that came with the page: panels, axes, series and words. It knows
// no figure: whatever a figure shows stands in its description, which Python makes.

import { fewerTicks, stepOfRounds } from "./axes.js";
import {
  apartOnAxis,
  bandOf,
  bracketed,
  cells,
  endLabels,
  labelOf,
  labelRoom,
  lettersBeside,
  lettersOf,
  markup,
  note,
  plain,
  shades,
  silent,
  titled,
  towards,
  withAlpha,
} from "./marks.js";
import { PAGE } from "./page.js";
import { nearestIndex } from "./preferences.js";

const PIXELS_PER_POINT = 1.4; // of a width that Python states in points
const DASHES = { solid: "solid", dashed: "dash", dotted: "dot" };
const SHAPES = { after: "hv", middle: "hvh" };
const SYMBOLS = { dot: "circle", own: "circle", cross: "x", diamond: "diamond", bar: "line-ns-open" };
const INKS = { ink: "text", faint: "soft", alarm: "alarm", rest: "line" };
const LINE_HEIGHT = 17; // pixels of a line of text
const HEIGHTS = { beside: 130, alone: 240, most: 400 }; // pixels of a panel whose height depends on its width
const ROOM = { title: 28, ticks: 22, axisTitle: 30, rim: 8, numbers: 46, lastTick: 22 }; // pixels
const LETTER = 7.6; // pixels of a letter of a name beside a chart
const SHORT_TEXT_SHARE = 0.6; // of the height of cells, where only their short texts fit
const SMALL_LETTER = 7; // pixels of a letter in a cell

/** Traces, layout and the meaning of a click for a description, at the present size and theme. */
export function drawChart(view, chart) {
  const panels = chart.panels.filter((panel) => allShown(view, panel.algorithms));
  const grid = gridOf(view, chart, panels);
  const traces = [];
  const layout = { height: grid.height, margin: { l: 0, r: 0, t: 0, b: 0, pad: 0 } };
  layout.barmode = "overlay";
  layout.shapes = [];
  layout.annotations = [];
  panels.forEach((panel, number) => {
    const suffix = number === 0 ? "" : String(number + 1);
    const frame = { ...grid.frames[number], suffix, x: `x${suffix}`, y: `y${suffix}` };
    const scene = { view, chart, panel, frame, rows: placesOf(view, panel.y), columns: placesOf(view, panel.x) };
    layout[`xaxis${suffix}`] = axisOf(scene, panel.x, "x");
    layout[`yaxis${suffix}`] = axisOf(scene, panel.y, "y");
    for (const series of panel.series) {
      const drawn = DRAWN[series.kind](scene, series);
      for (const trace of drawn) traces.push({ ...trace, xaxis: frame.x, yaxis: frame.y });
      if (series.kind === "rule") layout.shapes.push(ruleOf(scene, series));
    }
    layout.annotations.push(...wordsAround(scene));
  });
  return { traces, layout, pointAt: pairOfPoint };
}

function allShown(view, algorithms = []) {
  return algorithms.every(view.shows);
}

/** The new number of each row of an axis, null for rows that are hidden; null for other axes. */
function placesOf(view, axis) {
  if (!axis.rows) return null;
  let shown = 0;
  return axis.rows.map((row) => (allShown(view, row.algorithms) ? shown++ : null));
}

const countOf = (places) => places.filter((place) => place !== null).length;

// Layout

/** The frames of all panels, as shares of the whole drawing, and its height in pixels. */
function gridOf(view, chart, panels) {
  const most = (view.narrow ? chart.narrow_columns : chart.columns) ?? 1;
  const columns = Math.max(1, Math.min(most, panels.length));
  const rooms = panels.map((panel, number) => roomOf(view, chart, panel, {
    isLeft: number % columns === 0,
    isLowest: number + columns >= panels.length,
  }));
  const inColumn = (number) => rooms.filter((_, i) => i % columns === number);
  const inRow = (number) => rooms.slice(number * columns, (number + 1) * columns);
  const widest = (some, side) => Math.max(...some.map((room) => room[side]));
  const sides = Array.from({ length: columns }, (_, i) => ({
    left: widest(inColumn(i), "left"),
    right: widest(inColumn(i), "right"),
  }));
  const beside = sides.reduce((sum, { left, right }) => sum + left + right, 0);
  const width = Math.max((view.width - beside) / columns, 40);
  const frames = [];
  let top = 0;
  for (let row = 0; row * columns < panels.length; row++) {
    const roomsOfRow = inRow(row);
    const above = widest(roomsOfRow, "above");
    const panelsOfRow = panels.slice(row * columns, (row + 1) * columns);
    const least = columns === 1 ? HEIGHTS.alone : HEIGHTS.beside;
    const height = Math.max(...panelsOfRow.map((panel) => heightOf(view, panel, width, least)));
    let left = 0;
    roomsOfRow.forEach((room, column) => {
      left += sides[column].left;
      frames.push({ ...room, left, width, top: top + above, height });
      left += width + sides[column].right;
    });
    top += above + height + widest(roomsOfRow, "below");
  }
  const height = Math.max(top, 1);
  const share = (frame) => ({
    ...frame,
    across: [frame.left / view.width, Math.min((frame.left + frame.width) / view.width, 1)],
    upwards: [1 - (frame.top + frame.height) / height, 1 - frame.top / height],
  });
  return { frames: frames.map(share), height };
}

/** The height of a panel inside its axes, in pixels. */
function heightOf(view, panel, width, least) {
  if (!panel.lines) {
    return Math.min(Math.max((panel.aspect ?? 0.42) * width, least), HEIGHTS.most);
  }
  const places = placesOf(view, panel.y);
  const share = places ? Math.max(countOf(places), 1) / places.length : 1;
  const isShort = panel.series.some((series) => series.short_texts && !fitsInCells(series.texts, width));
  return panel.lines * LINE_HEIGHT * share * (isShort ? SHORT_TEXT_SHARE : 1);
}

/** The pixels that ticks, names, numbers and titles take on each side of a panel. */
function roomOf(view, chart, panel, { isLeft, isLowest }) {
  const isFirst = isLeft || !chart.shares_axes;
  const isLast = isLowest || !chart.shares_axes;
  const hasTicks = panel.x.is_labelled !== false && isLast;
  const lines = (panel.y.title ?? "").split("\n").length;
  const numbers = ROOM.numbers + (panel.y.title ? ROOM.axisTitle + (lines - 1) * LINE_HEIGHT : 0);
  let above = panel.titles || panel.head ? ROOM.title : ROOM.rim;
  if (panel.x.is_on_top) above += standing(view, panel.x) ? LETTER * longestName(panel.x.rows) : ROOM.ticks;
  const below = panel.x.rows || !hasTicks ? ROOM.rim : ROOM.ticks + (panel.x.title ? ROOM.axisTitle : ROOM.rim);
  const left = panel.y.rows ? nameRoom(view, panel.y.rows) : isFirst ? numbers : 2 * ROOM.rim;
  return { above, below, left, right: rightRoom(view, chart, panel), isFirst, isLast };
}

function rightRoom(view, chart, panel) {
  const numbers = (panel.y.rows ?? []).map((row) => row.number ?? "").filter(Boolean);
  const letters = Math.max(0, ...[...numbers, panel.head ?? ""].map((text) => text.length));
  if (letters) return 8 * letters + 18;
  const named = namedLines(view, chart, panel);
  return named.length ? labelRoom(view, named.map((line) => line.algorithm)) : ROOM.lastTick;
}

function longestName(rows) {
  return Math.max(1, ...rows.map((row) => Math.max(...(row.algorithms ?? []).map(lettersOf), 0) + 2));
}

/** Whether names of columns are too long to lie side by side. */
function standing(view, axis) {
  const room = (view.width - 140) / Math.max(axis.rows.length, 1);
  return 8.5 * longestName(axis.rows) > room;
}

/** The most letters of a name beside a row. */
const lettersOfRow = (view, row) => (row.algorithms?.length > 1 ? (view.narrow ? 9 : 16) : lettersBeside(view));

function nameRoom(view, rows) {
  const lengthOf = (row) => {
    const limit = lettersOfRow(view, row);
    const names = (row.algorithms ?? []).map((name) => Math.min(lettersOf(name), limit) + 2);
    return Math.max((row.text ?? "").length, names.reduce((sum, length) => sum + length, 0));
  };
  return LETTER * Math.max(1, ...rows.map(lengthOf)) + 10;
}

// Axes

function axisOf(scene, axis, side) {
  const { frame } = scene;
  const isX = side === "x";
  const isOuter = isX ? frame.isLast : frame.isFirst;
  const isLabelled = axis.is_labelled !== false && isOuter;
  const common = {
    domain: isX ? frame.across : frame.upwards,
    anchor: isX ? frame.y : frame.x,
    automargin: false,
    zeroline: false,
    showgrid: axis.has_grid !== false,
    showticklabels: isLabelled,
  };
  if (isLabelled && axis.title) common.title = titled(plainLines(axis.title), isX ? 8 : 6);
  if (axis.rows) return { ...common, ...rowAxis(scene, axis, isX) };
  const range = rangeOf(axis);
  return { ...common, type: axis.is_log ? "log" : "linear", ...range, ...ticksOf(scene, axis, isX) };
}

const plainLines = (text) => text.split("\n").map((line) => plain(line, 60)).join("<br>");

function rangeOf({ low, high, is_log: isLog }) {
  if (low === undefined && high === undefined) return {};
  if (low === undefined || high === undefined) return { rangemode: low === 0 ? "tozero" : "normal" };
  return { range: isLog ? [Math.log10(low), Math.log10(high)] : [low, high] };
}

function ticksOf({ frame }, axis, isX) {
  if (axis.ticks) {
    return { tickvals: axis.ticks.map((tick) => tick.at), ticktext: axis.ticks.map((tick) => plain(tick.text)) };
  }
  if (axis.is_time && axis.is_log) {
    const tickvals = PAGE.ticks.map(([value]) => value);
    const ticktext = PAGE.ticks.map(([, text]) => text);
    return { ...fewerTicks({ tickvals, ticktext }, frame.width), tickmode: "array" };
  }
  if (axis.has_whole_ticks) return { tick0: 0, dtick: stepOfRounds(axis.low, axis.high) };
  const most = isX ? Math.max(2, Math.floor(frame.width / 60)) : Math.max(2, Math.floor(frame.height / 35));
  return { nticks: Math.min(most, 9) };
}

/** Rows from the top down with their names, or columns with theirs. */
function rowAxis({ view, rows, columns }, axis, isX) {
  const places = isX ? columns : rows;
  const shown = axis.rows.filter((_, i) => places[i] !== null);
  const count = Math.max(shown.length, 1);
  const range = [-0.5, count - 0.5];
  const ticktext = shown.map((row) => rowName(view, row));
  const quiet = { showgrid: false, showline: false, ticks: "", range: isX ? range : range.reverse() };
  const side = isX && axis.is_on_top ? { side: "top", tickangle: standing(view, axis) ? -90 : 0 } : {};
  return { tickvals: shown.map((_, i) => i), ticktext, ...quiet, ...side };
}

function rowName(view, row) {
  if (row.text) return plain(row.text);
  const length = lettersOfRow(view, row);
  const coloured = (name) =>
    `<span style="color:${view.ink(name)}">${bracketed(name, length, row.is_bracketed)}</span>`;
  return row.algorithms.map(coloured).join(" : ");
}

// Words around a panel

function wordsAround(scene) {
  return [...titlesOf(scene), ...numbersOf(scene), ...namesOfLines(scene)];
}

function titlesOf({ view, panel, frame }) {
  const [left, right] = frame.across;
  const top = frame.upwards[1];
  const above = { xref: "paper", yref: "paper", yanchor: "bottom", yshift: panel.x.is_on_top ? ROOM.ticks : 3 };
  const at = { left, center: (left + right) / 2, right };
  const letters = (panel.titles ?? []).length > 1 ? 12 : Math.floor(frame.width / LETTER);
  const words = (panel.titles ?? []).map((title) => {
    const side = title.side ?? "left";
    const color = title.algorithm ? view.ink(title.algorithm) : view.colour("text");
    const text = title.algorithm ? labelOf(title.algorithm, letters) : plain(title.text, letters);
    const font = { color, size: title.is_small ? 12 : 13 };
    return note(title.is_small ? text : `<b>${text}</b>`, at[side], top, { ...above, xanchor: side, font });
  });
  if (panel.head) {
    const font = { color: view.colour("soft"), size: 11 };
    words.push(note(plain(panel.head), right, top, { ...above, xanchor: "left", xshift: 6, font }));
  }
  return words;
}

/** The numbers beside rows. */
function numbersOf({ view, panel, frame, rows }) {
  if (!rows) return [];
  return panel.y.rows.flatMap((row, i) => {
    if (rows[i] === null || !row.number) return [];
    const font = { color: row.algorithms ? view.ink(row.algorithms.at(-1)) : view.colour("text") };
    const beside = { xref: "paper", yref: frame.y, xanchor: "left", xshift: 6, font };
    return [note(plain(row.number, 40), frame.across[1], rows[i], beside)];
  });
}

/** The lines of a panel that are named at their ends, and shown. */
function namedLines(view, chart, panel) {
  if (chart.legend !== "beside") return [];
  return panel.series.filter((series) => series.kind === "line" && series.is_named && view.shows(series.algorithm));
}

/** Names beside lines that go on to the end, and above the ends of those that do not. */
function namesOfLines({ view, chart, panel, frame }) {
  const lines = namedLines(view, chart, panel).filter((line) => line.x.length);
  if (!lines.length) return [];
  const last = Math.max(...lines.map((line) => line.x.at(-1)));
  const first = Math.min(...lines.map((line) => line.x[0]));
  const endOf = (line) => ({ name: line.algorithm, out: line.is_bracketed, x: line.x.at(-1), y: line.y.at(-1) });
  const ends = lines.map(endOf);
  const isBeside = (end) => end.x === last;
  const { low, high } = panel.y;
  const beside = endLabels(view, ends.filter(isBeside), low, high, frame.height).map((label) => ({
    ...label,
    x: frame.across[1],
    yref: frame.y,
  }));
  const above = ends.filter((end) => !isBeside(end)).map(({ name, x, y }) => {
    const isRight = x > (first + last) / 2;
    const side = isRight ? { xanchor: "right", xshift: -9 } : { xanchor: "left", xshift: 9 };
    const font = { size: view.narrow ? 11 : 12, color: view.ink(name) };
    const place = panel.x.is_log ? Math.log10(x) : x;
    return note(labelOf(name, lettersBeside(view)), place, y, { xref: frame.x, yref: frame.y, yshift: 9, ...side, font });
  });
  return [...beside, ...above];
}

// Series

const DRAWN = {
  line: linesOf,
  points: pointsOf,
  area: areaOf,
  boxes: boxesOf,
  cells: cellsOf,
  rule: () => [],
};

function colourOf(view, { algorithm, ink }) {
  return algorithm ? view.of(algorithm) : view.colour(INKS[ink ?? "ink"]);
}

/** Positions on an axis of rows, moved as rows are hidden; null if theirs is hidden. */
function moved(places, positions) {
  if (!places) return positions;
  const shift = (position) => {
    const row = Math.min(Math.max(Math.round(position), 0), places.length - 1);
    return places[row] === null ? null : position - row + places[row];
  };
  return positions.map(shift);
}

/** Whether a series is of an algorithm or in a row that is hidden. */
function isHidden({ view, rows }, series, heights) {
  if (series.algorithm && !view.shows(series.algorithm)) return true;
  return Boolean(rows) && moved(rows, heights).every((height) => height === null);
}

/** The texts of a series as a tooltip. */
function tooltip(texts) {
  if (!texts) return { hoverinfo: "skip" };
  return { customdata: texts.map(markup), hovertemplate: "%{customdata}<extra></extra>" };
}

function linesOf(scene, series) {
  const { view, panel, rows } = scene;
  if (!series.x.length || isHidden(scene, series, series.y)) return [];
  const color = colourOf(view, series);
  const isPoint = series.x.length === 1;
  const x = isPoint && series.low ? [besideOthers(panel, series)] : series.x;
  const traces = [];
  if (series.low && (series.band_opacity ?? 0.2) > 0) {
    const filled = (bounds) => bounds.map((bound, i) => bound ?? series.y[i]);
    traces.push(bandOf(x, filled(series.low), filled(series.high), color, series.band_opacity ?? 0.2));
  }
  const ownDash = series.algorithm ? view.dash(series.algorithm) : "solid";
  const dash = series.dash ? DASHES[series.dash] : ownDash;
  const hasMarkers = series.marker && series.x.length <= 60;
  traces.push({
    x,
    y: moved(rows, series.y),
    mode: isPoint ? "markers" : hasMarkers ? "lines+markers" : "lines",
    line: { color, dash, width: PIXELS_PER_POINT * (series.width ?? 1.4), shape: SHAPES[series.step] ?? "linear" },
    marker: { color, size: isPoint ? 9 : 5 },
    cliponaxis: Boolean(series.low),
    ...tooltip(series.hover),
  });
  return traces;
}

/** A place beside a single time, so that no bar covers another. */
function besideOthers(panel, series) {
  const others = panel.series.filter((other) => other.kind === "line" && other.low && other.x.length === 1);
  return apartOnAxis(series.x, others.indexOf(series), others.length)[0];
}

function pointsOf(scene, series) {
  const { view, rows } = scene;
  if (!series.x.length || isHidden(scene, series, series.y)) return [];
  const color = colourOf(view, series);
  const symbol = SYMBOLS[series.marker ?? "dot"];
  const size = 1.9 * (series.size ?? 3.5);
  const line = symbol.endsWith("-open") ? { width: 2 } : { width: 0 };
  const marker = { color: withAlpha(color, series.opacity ?? 1), symbol, size, line };
  return [{ x: series.x, y: moved(rows, series.y), mode: "markers", marker, cliponaxis: false, ...tooltip(series.hover) }];
}

function areaOf(scene, series) {
  if (isHidden(scene, series, series.low)) return [];
  const fillcolor = withAlpha(colourOf(scene.view, series), series.opacity ?? 0.35);
  const x = [...series.x, ...[...series.x].reverse()];
  const y = moved(scene.rows, series.low).concat(highOf(scene, series).reverse());
  return [silent(x, y, { width: 0 }, { fill: "toself", fillcolor })];
}

/** The upper curve of an area, in the row of its lower one. */
function highOf({ rows }, series) {
  const low = moved(rows, series.low);
  return series.high.map((height, i) => height - series.low[i] + low[i]);
}

function boxesOf(scene, series) {
  const { view, rows, panel } = scene;
  const middles = series.low.map((low, i) => (low + series.high[i]) / 2);
  const isInHiddenRow = rows && panel.y.rows[Math.round(middles[0])] && moved(rows, middles)[0] === null;
  if (!series.left.length || isInHiddenRow || (series.algorithm && !view.shows(series.algorithm))) return [];
  const colour = colourOf(view, series);
  const strength = (i) => (series.strength ? series.strength[i] : 1);
  const isFrame = series.is_filled === false;
  const color = series.low.map((_, i) => (isFrame ? "rgba(0,0,0,0)" : withAlpha(colour, strength(i))));
  const rim = series.has_edges ? { color: view.colour("page"), width: 0.5 } : { width: 0 };
  const shifted = moved(rows, middles);
  return [
    {
      type: "bar",
      x: series.left,
      width: series.right.map((right, i) => right - series.left[i]),
      offset: 0,
      base: series.low.map((low, i) => low + shifted[i] - middles[i]),
      y: series.high.map((high, i) => high - series.low[i]),
      marker: { color, line: isFrame ? { color: colour, width: 1 } : rim },
      clickedPairs: middles.map((middle, i) => pairAt(scene, Math.round(middle), null, (series.left[i] + series.right[i]) / 2)),
      ...tooltip(series.hover),
    },
  ];
}

function ruleOf({ view, frame }, { at, ink, dash, width }) {
  const line = { color: view.colour(INKS[ink ?? "ink"]), width: PIXELS_PER_POINT * (width ?? 0.8), dash: DASHES[dash ?? "dashed"] };
  return { type: "line", xref: `${frame.x} domain`, yref: frame.y, x0: 0, x1: 1, y0: at, y1: at, line };
}

// Cells

function cellsOf(scene, series) {
  const shown = shownCells(scene, series);
  if (series.ahead) return series.ahead.map((name, i) => sideOf(scene, series, shown, name, i ? -1 : 1));
  const hover = shown.hover ? { customdata: shown.hover, hovertemplate: templateOf(series, 0), hoverongaps: false } : { hoverinfo: "skip" };
  const gap = series.gaps ? { ygap: 2, ...(series.gaps === "both" ? { xgap: 2 } : {}) } : {};
  const words = shown.texts ? { text: textsIn(scene, shown), texttemplate: "%{text}", textfont: { size: 11 } } : {};
  const trace = cells(shown.x, shown.y, shown.values, shades(scene.view), {
    ...{ zmin: series.least ?? 0, zmax: series.most ?? 1, ...hover, ...gap },
    ...words,
    clickedPairs: shown.values.map((line, i) => line.map((_, j) => pairAt(scene, shown.rows[i], shown.columns[j], null))),
  });
  return [trace];
}

/** Cells in rows and columns that are shown, with their edges and texts. */
function shownCells({ rows, columns }, series) {
  const kept = (places, count) =>
    Array.from({ length: count }, (_, i) => i).filter((i) => !places || places[i] !== null);
  const keptRows = kept(rows, series.values.length);
  const keptColumns = kept(columns, series.columns.length - 1);
  const edges = (places, count, own) => (places ? Array.from({ length: count + 1 }, (_, i) => i - 0.5) : own);
  const part = (grid) => grid && keptRows.map((i) => keptColumns.map((j) => (grid.length === 1 ? grid[0] : grid[i])[j]));
  return {
    x: edges(columns, keptColumns.length, series.columns),
    y: edges(rows, keptRows.length, series.rows),
    values: part(series.values),
    rows: keptRows,
    columns: keptColumns,
    texts: part(series.texts),
    shortTexts: part(series.short_texts),
    hover: part(series.hover)?.map((line) => line.map(markup)),
  };
}

/** What a cell says of itself: its text, and its value in the words for its sign. */
function templateOf(series, side) {
  const words = series.value_words?.[side];
  const value = words ? `<br>${markup(words).replace(/%/g, "&#37;").replace("{value}", "%{z:.2f}")}` : "";
  return `%{customdata}${value}<extra></extra>`;
}

/** The long texts where cells have room for them, otherwise the short ones. */
function textsIn({ frame }, { texts, shortTexts }) {
  const fits = !shortTexts || fitsInCells(texts, frame.width);
  return (fits ? texts : shortTexts).map((line) => line.map(markup));
}

/** Whether the longest line of all texts fits into a cell of a panel of this width. */
function fitsInCells(texts, width) {
  const lengths = texts.flat().flatMap((text) => text.split("\n").map((line) => line.length));
  return Math.max(0, ...lengths) * SMALL_LETTER < width / Math.max(texts[0]?.length ?? 1, 1);
}

/** The cells in which one of two algorithms is ahead, in its colour. */
function sideOf({ view }, series, shown, name, sign) {
  const values = shown.values.map((line) => line.map((value) => (sign * value > 0 ? sign * value : null)));
  return cells(shown.x, shown.y, values, towards(view.of(name)), {
    zmax: series.most,
    hoverongaps: false,
    customdata: shown.hover,
    hovertemplate: templateOf(series, sign > 0 ? 0 : 1),
  });
}

// Clicks

/** The pair of algorithms of a row and a column, and the time; null where there are not two. */
function pairAt({ panel }, row, column, x) {
  const ofRow = panel.y.rows?.[row]?.algorithms ?? [];
  const ofColumn = panel.x.rows?.[column]?.algorithms ?? [];
  const [a, b, ...more] = new Set([...ofRow, ...ofColumn]);
  if (a === undefined || b === undefined || more.length) return null;
  const t = panel.x.is_time && x !== null ? PAGE.times[nearestIndex(PAGE.times, x)] : undefined;
  return { a, b, t };
}

function pairOfPoint({ data, pointIndex }) {
  const [row, column] = [pointIndex].flat();
  const pairs = data.clickedPairs?.[row];
  return { pair: (column === undefined ? pairs : pairs?.[column]) ?? null };
}
