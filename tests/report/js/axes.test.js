import assert from "node:assert/strict";
import test from "node:test";

import "./page.js";

const { bestOnLog, fewerTicks, stepOfRounds, timeAxis, timeLabel } = await import(
  "../../../polarbear/report/page/js/axes.js"
);

test("a single evaluation is not several", () => {
  assert.equal(timeLabel(1), "\u20681 evaluation\u2069");
  assert.equal(timeLabel(2000), "\u20682,000 evaluations\u2069");
});

test("a narrow axis keeps as many ticks as it has room for", () => {
  const axis = { type: "log", tickvals: [1, 2, 3, 4], ticktext: ["1", "2", "3", "4"] };
  assert.deepEqual(fewerTicks(axis, 100).ticktext, ["1", "3"]);
  assert.deepEqual(fewerTicks(axis, 770).ticktext, ["1", "2", "3", "4"]);
});

test("time is logarithmic where the grid is, and where it spans far and unevenly", () => {
  assert.equal(timeAxis(true).type, "log");
  assert.deepEqual(timeAxis(true).ticktext, ["1", "10", "100"]);
  assert.equal(timeAxis(false).type, "linear");
  assert.equal(bestOnLog([1, 10, 100]), true);
});

test("rounds have whole numbers along their axis", () => {
  assert.equal(stepOfRounds(1, 5), 1);
  assert.equal(stepOfRounds(1, 60), 10);
});
