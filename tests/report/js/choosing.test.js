import assert from "node:assert/strict";
import test from "node:test";

import {
  bestOverTime,
  choose,
  errorOf,
  informationOf,
  slotsOf,
} from "../../../polarbear/report/page/js/choosing.js";

/** Draws by item and time: theta[item][time][draw]. */
function posteriorOf(theta, more = {}) {
  return {
    items: theta.map((_, i) => `item ${i}`),
    times: theta[0].map((_, t) => t + 1),
    draws: theta[0][0].length,
    effective: theta[0][0].length,
    size: theta.length,
    joint: true,
    sentences: { each_time: "each time for itself", close: "{first} or {second}" },
    at: (item, time) => theta[item][time],
    ...more,
  };
}

const first = { weights: [1, 0], notes: ["noted"] };

test("who is best in most draws is chosen, and draws that tie are shared", () => {
  const posterior = posteriorOf([
    [[0.6, 0.6, 0.6, 0.5], [0, 0, 0, 0]],
    [[0.4, 0.4, 0.4, 0.5], [1, 1, 1, 1]],
  ]);
  const { choice, ranking, notes } = choose(posterior, first, "p2bb", 0.05);
  assert.equal(choice, "item 0");
  assert.deepEqual(
    ranking.map((one) => one.p2bb),
    [0.875, 0.125],
  );
  assert.deepEqual(notes, ["noted"]);
  assert.ok(Math.abs(ranking[1].regret - (2.3 - 1.7) / 4) < 1e-12);
});

test("each profile of risk has its own best", () => {
  const posterior = posteriorOf([
    [[0.5, 0.5, 0.5, 0.0]], // mostly the best, but may fail
    [[0.4, 0.4, 0.4, 0.45]],
  ]);
  const chosen = (risk) => choose(posterior, { weights: [1], notes: [] }, risk, 0.05).choice;
  assert.equal(chosen("p2bb"), "item 0");
  assert.equal(chosen("mean"), "item 1");
  assert.equal(chosen("quantile"), "item 1");
  assert.equal(chosen("regret"), "item 1");
});

test("the worst time counts where there are no weights", () => {
  const posterior = posteriorOf([
    [[0.9, 0.9], [0.1, 0.1]],
    [[0.3, 0.3], [0.3, 0.3]],
  ]);
  assert.equal(choose(posterior, { weights: null, notes: [] }, "mean", 0.05).choice, "item 1");
});

test("several times of a model that knows each for itself are noted", () => {
  const theta = [
    [[0.9, 0.9], [0.8, 0.8]],
    [[0.1, 0.1], [0.2, 0.2]],
  ];
  const both = { weights: [0.5, 0.5], notes: [] };
  assert.deepEqual(choose(posteriorOf(theta), both, "p2bb", 0.05).notes, []);
  const apart = posteriorOf(theta, { joint: false });
  assert.deepEqual(choose(apart, both, "p2bb", 0.05).notes, ["each time for itself"]);
  assert.deepEqual(choose(apart, { weights: [1, 0], notes: [] }, "p2bb", 0.05).notes, []);
});

test("two that the draws cannot tell apart are named", () => {
  const posterior = posteriorOf([[[0.6, 0.4, 0.6, 0.4]], [[0.4, 0.6, 0.4, 0.5]]]);
  const { notes } = choose(posterior, { weights: [1], notes: [] }, "mean", 0.05);
  assert.deepEqual(notes, ["item 0 or item 1"]);
});

test("who is best at each time sums to one", () => {
  const shares = bestOverTime(
    posteriorOf([
      [[0.6, 0.6], [0.5, 0.2]],
      [[0.4, 0.4], [0.5, 0.8]],
    ]),
  );
  assert.deepEqual(shares, [
    [1, 0.25],
    [0, 0.75],
  ]);
});

test("a share that is all of the draws is not taken to be certain", () => {
  assert.ok(errorOf(1, { draws: 100, effective: 100 }) > 0);
});

test("slots are filled by whoever adds most, and their shares add up", () => {
  const posterior = posteriorOf([
    [[0.5, 0.5], [0.1, 0.1]],
    [[0.2, 0.2], [0.8, 0.8]],
    [[0.3, 0.3], [0.1, 0.1]],
  ]);
  const items = (weights) => slotsOf(posterior, weights).map((slot) => slot.item);
  assert.deepEqual(items([1, 0]), [0, 2, 1]);
  assert.deepEqual(items([0, 1]), [1, 0, 2]);
  assert.deepEqual(items(null), [1, 0, 2]); // at its worst: 0.2; then 0.7; then all
  const [first, second, third] = slotsOf(posterior, [1, 0]);
  assert.ok(Math.abs(first.share - 0.5) < 1e-12);
  assert.ok(Math.abs(second.more - 0.3) < 1e-12);
  assert.ok(Math.abs(third.share - 1) < 1e-12);
});

test("what could be gained is the regret of the choice, split by whom it is due to", () => {
  const posterior = posteriorOf([
    [[0.6, 0.6, 0.2, 0.2]],
    [[0.3, 0.3, 0.5, 0.1]],
    [[0.1, 0.1, 0.3, 0.7]],
  ]);
  const { ranking } = choose(posterior, { weights: [1], notes: [] }, "p2bb", 0.05);
  const found = informationOf(ranking);
  assert.equal(found.choice, 0);
  assert.ok(Math.abs(found.gain - 0.2) < 1e-12);
  assert.deepEqual(
    found.rivals.map((rival) => [rival.item, Math.round(1000 * rival.gain)]),
    [
      [2, 125],
      [1, 75],
    ],
  );
});
