// Rounds as a slider over the posterior: the estimates after each round, and the eliminations so far.

import { bestOnLog, timeAxis, timeLabel } from "./axes.js";
import { addChart, update } from "./charts.js";
import { byId, element, labelled, nameElement } from "./dom.js";
import { apartOnAxis, bandOf, endLabels, labelOf, labelRoom, lineOf, titled } from "./marks.js";
import { unpacked } from "./packing.js";
import { PAGE } from "./page.js";
import { startTable } from "./tables.js";
import { pieces } from "./wording.js";

export function startRounds(moments) {
  const scales = { x: bestOnLog(PAGE.times) ? "log" : "linear", y: "linear" };
  let place = moments.length - 1;
  const now = () => curvesOf(moments[place]);
  const chart = addChart(byId("rounds-chart"), `${PAGE.words.share_of_firsts} over time with 95 % bands`, (view) =>
    ratingsChart(view, now(), scales),
  );

  const slider = byId("round");
  slider.max = moments.length;
  slider.value = moments.length;
  const show = () => {
    place = Number(slider.value) - 1;
    const moment = now();
    byId("round-number").textContent = moment.title;
    slider.setAttribute("aria-valuetext", moment.title);
    byId("round-facts").textContent = moment.facts;
    byId("round-out").replaceChildren(...moment.out.map(outLine));
    update(chart);
  };
  slider.addEventListener("input", show);
  byId("round-row").hidden = moments.length < 2;
  const step = (by) => () => {
    slider.value = Number(slider.value) + by;
    show();
  };
  byId("round-back").addEventListener("click", step(-1));
  byId("round-on").addEventListener("click", step(1));
  startTable(byId("rounds-chart").closest("figure"), () => ratingsTable(moments.map(curvesOf)));
  for (const axis of ["x", "y"]) {
    const button = byId(`rounds-${axis}-log`);
    button.checked = scales[axis] === "log";
    button.addEventListener("change", () => {
      scales[axis] = button.checked ? "log" : "linear";
      update(chart);
    });
  }
  show();
}

/** A moment with its curves by algorithm: mean[item][time]. */
function curvesOf(moment) {
  const times = moment.times ?? PAGE.times;
  const split = (text) => {
    const all = Array.from(unpacked(text));
    return moment.algorithms.map((_, item) => all.slice(item * times.length, (item + 1) * times.length));
  };
  return { ...moment, times, mean: split(moment.mean), low: split(moment.low), high: split(moment.high) };
}

/** Shares of firsts after every round in long form. */
function ratingsTable(moments) {
  const columns = ["round", "algorithm", "t", "mean", "low", "high"];
  const data = columns.map(() => []);
  for (const moment of moments) {
    moment.algorithms.forEach((name, item) => {
      const curves = [moment.mean, moment.low, moment.high].map((one) => one[item]);
      moment.times.forEach((t, i) => {
        const digits = (value) => (Number.isFinite(value) ? Number(value.toPrecision(5)) : null);
        const row = [moment.number || null, name, t, ...curves.map((curve) => digits(curve[i]))];
        row.forEach((value, column) => data[column].push(value));
      });
    });
  }
  return { columns, data, rows: data[0].length };
}

function outLine({ algorithm, by, words }) {
  const names = { algorithm: labelled(algorithm), by: nameElement(by) };
  return element("li", {}, ...pieces(words, names));
}

function ratingsChart(view, moment, scales) {
  const { times, algorithms } = moment;
  const gone = new Set(moment.out.map((out) => out.algorithm));
  const shown = algorithms.map((name, item) => ({ name, item })).filter(({ name }) => view.shows(name));
  const traces = [];
  const ends = [];
  let [lowest, highest] = [1, 0];
  for (const [place, { name, item }] of shown.entries()) {
    const at = apartOnAxis(times, place, shown.length);
    const [mean, low, high] = [moment.mean, moment.low, moment.high].map((one) => one[item]);
    const colour = view.of(name);
    const out = gone.has(name);
    lowest = Math.min(lowest, ...low.filter((value) => value > 0));
    highest = Math.max(highest, ...high.filter(Number.isFinite));
    traces.push(bandOf(at, low, high, colour, out ? 0.07 : 0.18));
    const label = labelOf(name) + (out ? " (eliminated)" : "");
    const told = times.map((t, i) => [label, timeLabel(t), low[i], high[i]]);
    const hover =
      "%{customdata[0]}<br>%{customdata[1]}<br>%{meta} %{y:.3f} (%{customdata[2]:.3f} to %{customdata[3]:.3f})";
    const more = { opacity: out ? 0.65 : 1, meta: PAGE.words.share_of_firsts };
    traces.push(lineOf(view, name, at, mean, out ? 1.2 : 2.4, told, hover, more));
    ends.push({ name, out, y: mean[mean.length - 1] });
  }
  const title = titled(PAGE.words.share_of_firsts);
  const isLog = scales.y === "log";
  const bounds = isLog
    ? [Math.log10(Math.max(lowest, 1e-5)) - 0.05, Math.log10(highest) + 0.05]
    : [0, highest * 1.04];
  const placed = ends.map((end) => ({ ...end, y: isLog ? Math.log10(Math.max(end.y, 1e-5)) : end.y }));
  const labels = endLabels(view, placed, ...bounds, view.narrow ? 240 : 270);
  return {
    traces,
    layout: {
      height: view.narrow ? 300 : 330, // on a laptop's first screen
      margin: { l: 56, r: labelRoom(view, shown.map(({ name }) => name)), t: 12, b: 48 },
      xaxis: timeAxis(scales.x === "log"),
      yaxis: { title, type: scales.y, range: bounds, ...(isLog ? { dtick: 1 } : {}) },
      annotations: labels,
    },
  };
}
