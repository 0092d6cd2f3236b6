import assert from "node:assert/strict";
import test from "node:test";

import { duelOf, duelsAt, sampleOf } from "../../../polarbear/report/page/js/duels.js";

const VALUES = [1, 2, Infinity, 3, 5, NaN, Infinity, Infinity, 2, 2.05]; // two algorithms, one time

function sample(more = {}) {
  const closer = { instances: ["a", "b", "c", "d", "e"], larger: false, tolerance: 0, ...more };
  return sampleOf(closer, ["A", "B"], [10], Float64Array.from(VALUES).buffer);
}

test("smaller values win, nothing found loses, and who was not there has no duel", () => {
  assert.deepEqual(duelOf(sample(), 0, 0, 1, 0), { instance: 0, a: 1, b: 2, margin: 1, winner: 0 });
  assert.equal(duelOf(sample(), 1, 0, 1, 0).winner, 1);
  assert.equal(duelOf(sample(), 1, 0, 1, 0).margin, null);
  assert.equal(duelOf(sample(), 2, 0, 1, 0), null);
  assert.equal(duelOf(sample(), 3, 0, 1, 0).winner, null);
});

test("positions decide between outcomes without a feasible value", () => {
  const positions = Float64Array.from([0, 1, 1, 0, 0, 1, 1, 0, 0, 1]);
  const closer = { instances: ["a", "b", "c", "d", "e"], larger: false, tolerance: 0 };
  const constrained = sampleOf(closer, ["A", "B"], [10], Float64Array.from(VALUES).buffer, positions.buffer);
  assert.equal(duelOf(constrained, 3, 0, 1, 0).winner, 1);
  assert.equal(duelOf(constrained, 1, 0, 1, 0).winner, 1);
  assert.equal(duelOf(constrained, 3, 0, 1, 0).margin, null);
});

test("larger values win where they are better, and near ones tie within the tolerance", () => {
  assert.equal(duelOf(sample({ larger: true }), 0, 0, 1, 0).winner, 1);
  assert.equal(duelOf(sample({ tolerance: 0.1 }), 4, 0, 1, 0).winner, null);
  assert.equal(duelOf(sample(), 4, 0, 1, 0).winner, 0);
});

test("what the first one lost comes first, and the widest margins before others", () => {
  assert.deepEqual(
    duelsAt(sample(), 0, 1, 0).map((duel) => duel.instance),
    [1, 3, 0, 4],
  );
});
