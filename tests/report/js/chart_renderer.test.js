import assert from "node:assert/strict";
import test from "node:test";

import "./page.js";

const { drawChart } = await import("../../../polarbear/report/page/js/chart_renderer.js");

/** A view of a wide window in which some algorithms are switched off. */
function viewWithout(...hidden) {
  return {
    width: 1000,
    narrow: false,
    colour: () => "#101010",
    of: () => "#202020",
    ink: () => "#303030",
    dash: () => "solid",
    shows: (name) => !hidden.includes(name),
  };
}

const line = { kind: "line", x: [1, 10, 100], y: [0.2, 0.4, 0.6], is_named: true, hover: ["a", "b", "c"] };
const timeAxis = { title: "evaluations", low: 1, high: 100, is_time: true, is_log: true };
const shareAxis = { title: "share", low: 0, high: 1 };

function chartOfLines() {
  const series = ["A", "B"].map((algorithm) => ({ ...line, algorithm }));
  return { panels: [{ x: timeAxis, y: shareAxis, series }], legend: "beside" };
}

function chartOfRows() {
  const series = ["A", "B"].map((algorithm, row) => ({ kind: "points", x: [0.5], y: [row + 0.1], algorithm }));
  const rows = [{ algorithms: ["A"], number: "0.1" }, { algorithms: ["B"], number: "0.2" }];
  return { panels: [{ x: shareAxis, y: { rows }, series, lines: 4 }] };
}

function chartOfPairs() {
  const rows = [{ algorithms: ["A", "B"] }];
  const box = { kind: "boxes", left: [1, 10], right: [10, 100], low: [-0.4, -0.4], high: [0.4, 0.4], algorithm: "A" };
  return { panels: [{ x: timeAxis, y: { rows }, series: [box], lines: 2 }] };
}

test("a line is drawn with its tooltips, and its name stands at its end", () => {
  const { traces, layout } = drawChart(viewWithout(), chartOfLines());
  assert.equal(traces.length, 2);
  assert.deepEqual(traces[0].customdata, ["a", "b", "c"]);
  assert.deepEqual(layout.xaxis.range, [0, 2]);
  assert.ok(layout.annotations.some(({ text }) => text.includes("second")));
});

test("whatever belongs to an algorithm that is switched off is not drawn", () => {
  const { traces, layout } = drawChart(viewWithout("B"), chartOfLines());
  assert.equal(traces.length, 1);
  assert.ok(!layout.annotations.some(({ text }) => text.includes("second")));
  const panels = chartOfLines().panels.map((panel) => ({ ...panel, algorithms: ["A", "B"] }));
  assert.deepEqual(drawChart(viewWithout("B"), { panels }).traces, []);
});

test("rows move up where one above them is hidden, with all that lies in them", () => {
  const all = drawChart(viewWithout(), chartOfRows());
  assert.deepEqual(all.traces.map(({ y }) => y), [[0.1], [1.1]]);
  const { traces, layout } = drawChart(viewWithout("A"), chartOfRows());
  assert.deepEqual(traces.map(({ y }) => y.map((height) => Number(height.toFixed(6)))), [[0.1]]);
  assert.deepEqual(layout.yaxis.tickvals, [0]);
  assert.deepEqual(layout.annotations.map(({ text }) => text), ["\u20680.2\u2069"]);
  assert.ok(layout.height < all.layout.height);
});

test("panels lie in as many columns as there is room for", () => {
  const [panel] = chartOfLines().panels;
  const chart = { panels: [panel, panel], columns: 2 };
  const wide = drawChart(viewWithout(), chart).layout;
  assert.deepEqual(wide.yaxis.domain, wide.yaxis2.domain);
  const narrow = drawChart({ ...viewWithout(), width: 400, narrow: true }, chart).layout;
  assert.ok(narrow.yaxis2.domain[1] < narrow.yaxis.domain[0]);
});

test("cells of hidden rows and columns are left out, and texts stand where they fit", () => {
  const rows = ["A", "B"].map((name) => ({ algorithms: [name] }));
  const grid = (text) => [[`${text}00`, `${text}01`], [`${text}10`, `${text}11`]];
  const cells = { kind: "cells", columns: [-0.5, 0.5, 1.5], rows: [-0.5, 0.5, 1.5], values: [[1, 2], [3, 4]] };
  const texts = { texts: grid("a long text "), short_texts: grid(""), hover: grid("<") };
  const panel = { x: { rows, is_on_top: true }, y: { rows }, series: [{ ...cells, ...texts }], lines: 4 };
  const [all] = drawChart(viewWithout(), { panels: [panel] }).traces;
  assert.equal(all.text[0][1], "a long text 01");
  assert.equal(all.customdata[0][1], "&lt;01");
  const [part] = drawChart(viewWithout("A"), { panels: [panel] }).traces;
  assert.deepEqual(part.z, [[4]]);
  const [narrow] = drawChart({ ...viewWithout(), width: 150, narrow: true }, { panels: [panel] }).traces;
  assert.equal(narrow.text[0][1], "01");
});

test("differences are two layers, each in the colour of the one that is ahead", () => {
  const cells = { kind: "cells", columns: [1, 10, 100], rows: [0, 1], values: [[0.5, -0.25]], most: 1 };
  const words = { ahead: ["A", "B"], hover: [["first", "last"]], value_words: ["A: {value}", "B: {value}"] };
  const panel = { x: timeAxis, y: shareAxis, series: [{ ...cells, ...words }] };
  const [first, other] = drawChart(viewWithout(), { panels: [panel] }).traces;
  assert.deepEqual(first.z, [[0.5, null]]);
  assert.deepEqual(other.z, [[null, 0.25]]);
  assert.equal(other.hovertemplate, "%{customdata}<br>B: %{z:.2f}<extra></extra>");
});

test("a click on a row of two algorithms asks for this pair at the nearest time", () => {
  const { traces, pointAt } = drawChart(viewWithout(), chartOfPairs());
  assert.deepEqual(pointAt({ data: traces[0], pointIndex: 1 }), { pair: { a: "A", b: "B", t: 10 } });
  assert.deepEqual(pointAt({ data: {}, pointIndex: 0 }), { pair: null });
});
