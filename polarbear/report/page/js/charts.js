// Charts: drawn when they come near the window, redrawn when algorithms are toggled, the theme
// changes or the page is printed.

const PRINTED_WIDTH = 680;
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"]; // where colours come again
const CHARTS = [];
let printing = false;
let themeOnScreen; // kept while the page is printed
const hidden = new Set(); // names that the reader has switched off

/** Add a chart; make(view) gives { traces, layout } for the present width, theme and toggles. */
function addChart(place, label, make) {
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", label);
  const chart = { place, make, near: false, drawn: false };
  CHARTS.push(chart);
  nearby.observe(place);
  resized.observe(place);
  return chart;
}

const nearby = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      const chart = CHARTS.find((one) => one.place === entry.target);
      chart.near = entry.isIntersecting;
      if (chart.near && !chart.drawn) draw(chart);
    }
  },
  { rootMargin: "400px" },
);

const resized = new ResizeObserver((entries) => {
  for (const entry of entries) {
    const chart = CHARTS.find((one) => one.place === entry.target);
    const width = Math.round(entry.contentRect.width);
    if (chart.drawn && width > 0 && width !== chart.width && !printing) {
      requestAnimationFrame(() => draw(chart));
    }
  }
});

/** Draw a chart that is in sight; one that is not is drawn when it comes there. */
function update(chart) {
  chart.drawn = false;
  delete chart.place.dataset.drawn;
  if (chart.near || printing) draw(chart);
}

/** Update with the next frame, once, however often it is asked for until then. */
function soon(chart) {
  delete chart.place.dataset.drawn;
  if (chart.waiting) return;
  chart.waiting = true;
  requestAnimationFrame(() => {
    chart.waiting = false;
    update(chart);
  });
}

function updateAll() {
  CHARTS.forEach(update);
}

function draw(chart) {
  if (typeof Plotly === "undefined") return; // the selector answers before that is read
  const width = printing ? PRINTED_WIDTH : chart.place.clientWidth;
  if (!width) return;
  chart.width = width;
  chart.drawn = true;
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const view = {
    width,
    narrow: width < 560,
    colour,
    of: (name) => colour(`algorithm-${PAGE.algorithms.indexOf(name)}`),
    dash: (name) =>
      DASHES[Math.floor(PAGE.algorithms.indexOf(name) / PAGE.colours) % DASHES.length],
    shows: (name) => !hidden.has(name),
  };
  const { traces, layout } = chart.make(view);
  const touch = matchMedia("(pointer: coarse)").matches;
  Plotly.react(chart.place, traces, layoutOf(view, layout, touch), {
    displaylogo: false,
    showLink: false,
    displayModeBar: false,
    responsive: false,
    doubleClick: "reset",
  });
  chart.place.dataset.drawn = "yes";
}

/** What all charts have in common: quiet axes, the page's letters and colours. */
function layoutOf(view, layout, touch) {
  const axis = {
    gridcolor: view.colour("grid"),
    linecolor: view.colour("line"),
    zerolinecolor: view.colour("grid"),
    tickcolor: view.colour("line"),
    automargin: true,
    fixedrange: touch || printing,
  };
  const merged = {
    width: view.width,
    height: view.narrow ? 320 : 400,
    margin: { l: 52, r: 16, t: 12, b: 48, pad: 2 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: {
      family: "system-ui, sans-serif",
      size: view.narrow ? 11 : 13,
      color: view.colour("text"),
    },
    hoverlabel: {
      bgcolor: view.colour("card"),
      bordercolor: view.colour("line"),
      font: { color: view.colour("text"), size: 12 },
      namelength: -1,
    },
    showlegend: false,
    dragmode: touch ? false : "zoom",
    hovermode: "closest",
    ...layout,
  };
  for (const name of Object.keys(merged)) {
    if (/^[xy]axis\d*$/.test(name)) merged[name] = { ...axis, ...fewerTicks(view, merged[name]) };
  }
  return merged;
}

/** Ticks of a logarithmic axis as far as there is room for them side by side. */
function fewerTicks(view, axis) {
  if (axis.type !== "log" || !axis.tickvals) return axis;
  const [from, to] = axis.domain ?? [0, 1];
  const room = (to - from) * (view.width - 130);
  const stride = Math.ceil((axis.tickvals.length * 46) / Math.max(room, 46));
  const keep = (_, i) => i % stride === 0;
  return {
    ...axis,
    tickangle: 0,
    tickvals: axis.tickvals.filter(keep),
    ticktext: axis.ticktext.filter(keep),
  };
}

/** Whether times are best seen on a logarithmic scale: as the grid is spaced, or far and uneven. */
function bestOnLog(times) {
  const steps = times.slice(1).map((t, i) => t - times[i]);
  const uneven = Math.max(...steps) > 3 * Math.min(...steps);
  return PAGE.log_times || (uneven && times[0] > 0 && times[times.length - 1] / times[0] > 20);
}

/** An axis of time, on the scale of the grid unless the reader asks for the other one. */
function timeAxis(log, more = {}) {
  const [first, last] = [PAGE.times[0], PAGE.times[PAGE.times.length - 1]];
  const title = { text: AXIS, standoff: 8 };
  if (!log || first <= 0) return { title, type: "linear", ...padded(first, last), ...more };
  const { range } = padded(Math.log10(first), Math.log10(last));
  return { title, type: "log", range, ...logTicks(first, last), ...more };
}

function padded(first, last) {
  const pad = first === last ? Math.max(Math.abs(first), 1) * 0.1 : (last - first) * 0.01;
  return { range: [first - pad, last + pad] };
}

/** Ticks at 1, 2, 5 of each order of magnitude where these are few, otherwise at each order. */
function logTicks(first, last) {
  const orders = Math.log10(last / first);
  const steps = orders > 4 ? [1] : [1, 2, 5];
  const values = [];
  for (let power = Math.floor(Math.log10(first)); power <= Math.ceil(Math.log10(last)); power++) {
    for (const step of steps) {
      const value = Number(`${step}e${power}`);
      if (value >= first * 0.98 && value <= last * 1.02) values.push(value);
    }
  }
  const stride = orders > 8 ? 2 : 1;
  const shown = values.filter((_, i) => i % stride === 0);
  return { tickvals: shown, ticktext: shown.map(tickText) };
}

function tickText(value) {
  if (value >= 1e6 || value < 1e-3)
    return `${value / 10 ** Math.floor(Math.log10(value))}e${Math.floor(Math.log10(value))}`;
  return value.toLocaleString("en");
}

/** Increasing places moved apart to at least a gap, as little as it takes. */
function apart(values, gap, low, high) {
  const places = [...values];
  for (let pass = 0; pass < 50; pass++) {
    for (let i = 1; i < places.length; i++) {
      const lack = gap - (places[i] - places[i - 1]);
      if (lack > 0) {
        places[i] += lack / 2;
        places[i - 1] -= lack / 2;
      }
    }
    for (let i = 0; i < places.length; i++) {
      places[i] = Math.min(
        Math.max(places[i], low + i * gap),
        high - (places.length - 1 - i) * gap,
      );
    }
  }
  return places;
}

/** Ends of lines with their names, moved apart so that none covers another. */
function endLabels(view, lines, low, high, height) {
  if (view.narrow) return [];
  const gap = (16 * (high - low)) / height;
  const sorted = [...lines].sort((a, b) => a.y - b.y);
  const places = apart(
    sorted.map((line) => line.y),
    gap,
    low,
    high,
  );
  return sorted.map((line, i) => ({
    x: 1,
    xref: "paper",
    xanchor: "left",
    xshift: 6,
    y: places[i],
    yanchor: "middle",
    showarrow: false,
    text: line.text ?? plain(line.name, 16),
    font: { color: view.of(line.name), size: 12 },
  }));
}

/** A colour through which others can be seen. */
function withAlpha(colour, alpha) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return `rgba(${r},${g},${b},${alpha})`;
}

addEventListener("can-draw", () => {
  updateAll();
  performance.mark("polarbear-draws");
});

// Paper is light and narrow, and nobody can unfold anything on it.
addEventListener("beforeprint", () => {
  printing = true;
  themeOnScreen = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  for (const details of document.querySelectorAll("details.long")) details.open = true;
  updateAll();
});
addEventListener("afterprint", () => {
  printing = false;
  if (themeOnScreen) document.documentElement.dataset.theme = themeOnScreen;
  else delete document.documentElement.dataset.theme;
  updateAll();
});
