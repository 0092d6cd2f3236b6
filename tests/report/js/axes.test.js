import assert from "node:assert/strict";
import test from "node:test";

import "./page.js";

const { bestOnLog, borders, fewerTicks, roundAxis, timeAxis, timeLabel } = await import(
  "../../../polarbear/report/page/js/axes.js"
);

test("a single evaluation is not several", () => {
  assert.equal(timeLabel(1), "\u20681 evaluation\u2069");
  assert.equal(timeLabel(2000), "\u20682,000 evaluations\u2069");
});

test("a narrow axis keeps as many ticks as it has room for", () => {
  const axis = { type: "log", tickvals: [1, 2, 3, 4], ticktext: ["1", "2", "3", "4"] };
  assert.deepEqual(fewerTicks({ width: 230 }, axis).ticktext, ["1", "3"]);
  assert.deepEqual(fewerTicks({ width: 900 }, axis).ticktext, ["1", "2", "3", "4"]);
});

test("borders lie half way between times, on the scale of the axis", () => {
  assert.deepEqual(borders([1, 3, 7], false), [0, 2, 5, 9]);
  assert.deepEqual(borders([100], true), [90, 110.00000000000001]);
  const [low, middle, high] = borders([10, 1000], true).map(Math.round);
  assert.deepEqual([low, middle, high], [1, 100, 10000]);
});

test("time is logarithmic where the grid is, and where it spans far and unevenly", () => {
  assert.equal(timeAxis(true).type, "log");
  assert.deepEqual(timeAxis(true).ticktext, ["1", "10", "100"]);
  assert.equal(timeAxis(false).type, "linear");
  assert.equal(bestOnLog([1, 10, 100]), true);
});

test("rounds have whole numbers along their axis", () => {
  assert.equal(roundAxis(1, 5).dtick, 1);
  assert.equal(roundAxis(1, 60).dtick, 10);
});
