// Figures that are made of a table: each has a drawing in DRAWINGS, by its name.

const DRAWINGS = {};

/** A table with its columns in full: some come as a list of values and places in it. */
function unfolded(table) {
  const whole = (column) =>
    Array.isArray(column) ? column : column.codes.map((code) => column.values[code]);
  return { ...table, data: table.data.map(whole) };
}

/** The rows of a table as objects, by column. */
function rowsOf(table) {
  return Array.from({ length: table.rows }, (_, row) =>
    Object.fromEntries(table.columns.map((name, i) => [name, table.data[i][row]])),
  );
}

/** Rows with the same key, in the order in which keys first come. */
function grouped(rows, key) {
  const groups = new Map();
  for (const row of rows) {
    const name = key(row);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(row);
  }
  return groups;
}

function startFigures() {
  for (const figure of document.querySelectorAll("figure[data-figure]")) {
    const name = figure.dataset.figure;
    if (!PAGE.figures[name]) continue;
    startTable(figure, () => unfolded(PAGE.figures[name]));
    const place = figure.querySelector(".chart.of-table");
    if (!place) continue;
    if (!DRAWINGS[name]) {
      place.remove();
      figure.querySelector("details.data").open = true;
      continue;
    }
    let rows = null; // unfolded when the figure comes near
    addChart(place, figure.dataset.title, (view) =>
      DRAWINGS[name](view, (rows ??= rowsOf(unfolded(PAGE.figures[name])))),
    );
  }
}

/** A name for a chart, in brackets if it is out. */
function markedName(name, length) {
  return PAGE.out.includes(name) ? `(${plain(name, length)})` : plain(name, length);
}

/** Names along an axis: places on it are numbers, so that two names may look alike. */
function nameAxis(view, names, more = {}) {
  const length = view.narrow ? 12 : 20;
  return {
    tickvals: names.map((_, i) => i),
    ticktext: names.map((name) => markedName(name, length)),
    showgrid: false,
    zeroline: false,
    ...more,
  };
}

/** Borders half way between the times, on the scale of the axis. */
function borders(times, log) {
  if (times.length === 1) return [times[0] * 0.9, times[0] * 1.1];
  const there = log ? Math.log : (t) => t;
  const back = log ? Math.exp : (x) => x;
  const places = times.map(there);
  const middles = places.slice(1).map((place, i) => (place + places[i]) / 2);
  const mirrored = 2 * places[0] - middles[0];
  const first = !log && places[0] >= 0 ? Math.max(mirrored, 0) : mirrored; // no time before the start
  const last = 2 * places[places.length - 1] - middles[middles.length - 1];
  return [first, ...middles, last].map(back);
}

/** Whole numbers along an axis of rounds. */
function roundAxis(first, last, more = {}) {
  const step =
    [1, 2, 5, 10, 20, 50, 100, 200, 500].find((one) => (last - first) / one <= 9) || 1000;
  const pad = Math.max(0.6, 0.02 * (last - first));
  return {
    title: { text: "round", standoff: 6 },
    range: [first - pad, last + pad],
    tick0: 0,
    dtick: step,
    zeroline: false,
    ...more,
  };
}
