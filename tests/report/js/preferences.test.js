import assert from "node:assert/strict";
import test from "node:test";

import {
  addressOf,
  askedBy,
  normalBelow,
  overRange,
  preferenceOn,
} from "../../../polarbear/report/page/js/preferences.js";

const grid = {
  times: [10, 20, 40, 80],
  joint: true,
  limits: { least_mass: 1e-6, worth_a_note: 0.99 },
  sentences: {
    grid: "outside",
    nearest: "{t} at {nearest}",
    cut_off: "{share} is left",
    off_the_grid: "nothing is left",
  },
  say: { percent: (share) => share.toFixed(1), time: String },
};
const total = (weights) => weights.reduce((sum, weight) => sum + weight, 0);
const mean = (weights) => total(weights.map((weight, i) => weight * grid.times[i]));
const near = (found, expected, by = 1e-12) => assert.ok(Math.abs(found - expected) < by, found);

test("the normal distribution function is right near zero and far out", () => {
  near(normalBelow(0), 0.5);
  near(normalBelow(1.959963984540054), 0.975);
  near(normalBelow(-6) / 9.865876450376981e-10, 1);
  assert.equal(normalBelow(40), 1);
});

test("a budget between two times is shared by them as it lies between them", () => {
  assert.deepEqual(preferenceOn(grid, "at", [25]).weights, [0, 0.75, 0.25, 0]);
});

test("a model that knows each time for itself takes the nearest time, and says so", () => {
  const found = preferenceOn({ ...grid, joint: false }, "at", [26]);
  assert.deepEqual(found.weights, [0, 1, 0, 0]);
  assert.deepEqual(found.notes, ["26 at 20"]);
});

test("every preference has weights that sum to one", () => {
  const asked = {
    between: [15, 60],
    uniform: [],
    "log-uniform": [],
    normal: [40, 10],
    lognormal: [30, 0.5],
    triangular: [10, 30, 80],
    exponential: [30],
  };
  for (const [name, values] of Object.entries(asked)) {
    near(total(preferenceOn(grid, name, values).weights), 1);
  }
  assert.equal(preferenceOn(grid, "worst-case", []).weights, null);
});

test("the mean budget of a range is its middle, whatever the grid", () => {
  near(mean(overRange(grid.times, 13, 71)), 42);
  near(mean(overRange(grid.times, 20, 20)), 20);
});

test("what was cut off is noted, and what does not fit is a problem", () => {
  assert.deepEqual(preferenceOn(grid, "normal", [40, 5]).notes, []);
  assert.deepEqual(preferenceOn(grid, "normal", [80, 10]).notes, ["0.5 is left"]);
  assert.equal(preferenceOn(grid, "normal", [9000, 10]).problem, "nothing is left");
  assert.equal(preferenceOn(grid, "at", [81]).problem, "outside");
  assert.equal(preferenceOn(grid, "between", [10, NaN]).problem, "outside");
  assert.match(preferenceOn(grid, "between", [60, 20]).problem, /ends before it begins/);
  assert.match(preferenceOn(grid, "triangular", [30, 20, 40]).problem, /in this order/);
});

test("a preference in words is what the command line reads", () => {
  assert.equal(preferenceOn(grid, "between", [15, 60.5]).text, "between 15 and 60.5");
  assert.equal(preferenceOn(grid, "lognormal", [30, 0.5]).text, "lognormal 30 0.5");
  assert.equal(preferenceOn(grid, "uniform", []).text, "uniform");
});

test("what an address asks is what was asked when it was made", () => {
  for (const asked of [
    { name: "at", values: [5000], risk: "mean", gamma: NaN },
    { name: "between", values: [0, 3], risk: "p2bb", gamma: NaN },
    { name: "worst-case", values: [], risk: "quantile", gamma: 0.1 },
  ]) {
    assert.deepEqual(askedBy(addressOf(asked)), asked);
  }
});

test("an address that asks nothing, or what cannot be meant, harms nothing", () => {
  assert.equal(askedBy("#choose"), null);
  assert.deepEqual(askedBy("#ask=at+x%00y").values, []);
});
