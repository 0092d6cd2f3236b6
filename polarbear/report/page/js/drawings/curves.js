// The classical view, averaged over targets: ECDF over time, and its area run by run.

import { timeAxis, timeLabel } from "../axes.js";
import { labelOf, plain } from "../labels.js";
import { bandOf, endLabels, labelRoom, lineOf, silent, titled, withAlpha } from "../marks.js";
import { PAGE } from "../page.js";
import { rowPanels } from "../rowpanels.js";
import { grouped } from "../rows.js";

export function ecdf(view, rows) {
  const traces = [];
  const ends = [];
  for (const [name, mine] of grouped(rows, (row) => row.algorithm)) {
    if (!view.shows(name)) continue;
    const [times, low, high, share] = ["t", "low", "high", "share"].map((key) => mine.map((row) => row[key]));
    if (low[0] !== null) traces.push(bandOf(times, low, high, view.of(name), 0.12));
    const interval = (row) => (row.low === null ? "" : `(${row.low.toFixed(3)} to ${row.high.toFixed(3)})`);
    const told = mine.map((row) => [labelOf(name), timeLabel(row.t), interval(row)]);
    const hover = "%{customdata[0]}<br>%{customdata[1]}<br>share of targets %{y:.3f} %{customdata[2]}";
    traces.push(lineOf(view, name, times, share, 2, told, hover));
    ends.push({ name, y: share.at(-1) });
  }
  return {
    traces,
    layout: {
      margin: { l: 56, r: labelRoom(view, ends.map(({ name }) => name)), t: 12, b: 48 },
      xaxis: timeAxis(PAGE.log_times),
      yaxis: { title: titled("share of targets"), range: [-0.01, 1.02], zeroline: false },
      annotations: endLabels(view, ends, 0, 1, view.narrow ? 260 : 340),
    },
  };
}

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
