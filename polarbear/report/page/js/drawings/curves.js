// The classical view, averaged over targets: ECDF over time, and its area run by run.

import { timeAxis, timeLabel } from "../axes.js";
import { labelOf, lettersOf, plain } from "../labels.js";
import { axisId, bandOf, endLabels, labelRoom, lineOf, silent, titled, withAlpha } from "../marks.js";
import { PAGE } from "../page.js";
import { panelHeads, rowEnds, rowsAxis } from "../rowpanels.js";
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
    ends.push({ name, y: mine[mine.length - 1].share });
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
  const panels = [...grouped(rows, (row) => row.time)];
  const across = view.narrow ? 1 : panels.length;
  const down = Math.ceil(panels.length / across);
  const names = [...new Set(rows.map((row) => row.algorithm))].filter(view.shows);
  const letters = Math.min(view.narrow ? 11 : 16, Math.max(...names.map(lettersOf), 1));
  const panel = names.length * 32 + 34 + 52;
  const traces = [];
  const layout = { height: down * panel, margin: { l: 8, r: 8, t: 0, b: 0 }, annotations: [] };
  panels.forEach(([time, some], i) => {
    const [column, row] = [i % across, Math.floor(i / across)];
    const id = axisId(i);
    const left = column / across + (8 * letters + 18) / view.width;
    const right = (column + 1) / across - 52 / view.width;
    const top = 1 - (row * panel + 34) / (down * panel);
    const bottom = 1 - ((row + 1) * panel - 52) / (down * panel);
    layout[`xaxis${id}`] = {
      domain: [left, right],
      anchor: `y${id}`,
      range: [-0.02, 1.02],
      nticks: 6,
      zeroline: false,
      title: titled("AOCC", 4),
    };
    layout[`yaxis${id}`] = rowsAxis(id, [bottom, top], [names.length - 0.5, -0.5]);
    const sides = { left, right, top };
    layout.annotations.push(...panelHeads(view, titles[time] ?? time, "mean", sides));
    let place = 0;
    for (const [name, mine] of grouped(some, (one) => one.algorithm)) {
      if (!names.includes(name)) continue;
      const here = place++;
      const colour = view.of(name);
      const axes = { xaxis: `x${id}`, yaxis: `y${id}` };
      const alpha = Math.min(0.6, Math.max(0.2, 20 / mine.length));
      traces.push({
        ...axes,
        x: mine.map((one) => one.aocc),
        y: mine.map((_, k) => here + 0.26 * (2 * ((0.5 + k * 0.618034) % 1) - 1)),
        mode: "markers",
        marker: { color: withAlpha(colour, alpha), size: 6 },
        customdata: mine.map((one) => [labelOf(name), plain(one.instance, 40)]),
        hovertemplate: "%{customdata[0]} on %{customdata[1]}<br>%{x:.3f}<extra></extra>",
      });
      const { mean, low, high } = mine[0];
      const text = view.colour("text");
      if (low !== null) traces.push(silent([low, high], [here, here], { color: text, width: 1.5 }, axes));
      traces.push({
        ...axes,
        x: [mean],
        y: [here],
        mode: "markers",
        marker: { symbol: "line-ns-open", size: 14, line: { width: 2 }, color: text },
        hovertemplate: `${labelOf(name).replace(/%/g, "&#37;")}: mean %{x:.3f}<extra></extra>`,
      });
      layout.annotations.push(
        ...rowEnds(id, labelOf(name, letters), mean.toFixed(2), here, view.ink(name), sides),
      );
    }
  });
  return { traces, layout };
}
