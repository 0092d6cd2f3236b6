import assert from "node:assert/strict";
import test from "node:test";

import {
  bestOverTime,
  choose,
  errorOf,
  informationOf,
} from "../../../polarbear/report/page/js/choosing.js";

/** Win probabilities of the first of each pair, by pair and time: wins[pair][time][draw]. */
function posteriorOf(wins, more = {}) {
  const size = (1 + Math.sqrt(1 + 8 * wins.length)) / 2;
  return {
    items: Array.from({ length: size }, (_, i) => `item ${i}`),
    times: wins[0].map((_, t) => t + 1),
    draws: wins[0][0].length,
    effective: wins[0][0].length,
    joint: true,
    problems: wins.map((times) => times.map(() => 40)),
    limits: { least_problems: 10 },
    sentences: {
      each_time: "each time for itself",
      close: "{first} or {second}",
      too_early: "{name}: {reason}",
      few_problems: "{problems}",
      no_better: "no better",
    },
    say: { counted: (n, what) => `${n} ${what}s` },
    wins: (pair, time) => wins[pair][time],
    ...more,
  };
}

const first = { weights: [1, 0], notes: ["noted"] };

test("the best in most draws is chosen, and draws that tie are shared", () => {
  const posterior = posteriorOf([[[0.6, 0.6, 0.6, 0.5], [0, 0, 0, 0]]]);
  const { choice, ranking, notes } = choose(posterior, first, "p2bb", 0.05);
  assert.equal(choice, "item 0");
  assert.deepEqual(
    ranking.map((one) => one.p2bb),
    [0.875, 0.125],
  );
  assert.deepEqual(notes, ["noted"]);
  assert.ok(Math.abs(ranking[1].regret - (2.3 - 1.7) / 4) < 1e-12);
});

test("a value is the win rate against the strongest rival", () => {
  // item 0 beats item 1, which beats item 2, which item 0 hardly beats
  const posterior = posteriorOf([[[0.7, 0.8]], [[0.55, 0.55]], [[0.9, 0.9]]]);
  const { ranking } = choose(posterior, { weights: [1], notes: [] }, "p2bb", 0.05);
  assert.deepEqual(
    ranking.map(({ item, rival, problems }) => [item, rival, problems]),
    [
      [0, 2, 40],
      [1, 0, 40],
      [2, 1, 40],
    ],
  );
  assert.deepEqual(
    ranking.map(({ mean }) => Number(mean.toFixed(6))),
    [0.55, 0.25, 0.1],
  );
});

test("each profile of risk has its own best", () => {
  const posterior = posteriorOf([[[0.6, 0.6, 0.6, 0.0]]]); // mostly the best, but may fail
  const chosen = (risk) => choose(posterior, { weights: [1], notes: [] }, risk, 0.05).choice;
  assert.equal(chosen("p2bb"), "item 0");
  assert.equal(chosen("mean"), "item 1");
  assert.equal(chosen("quantile"), "item 1");
  assert.equal(chosen("regret"), "item 1");
});

test("the worst time counts where there are no weights", () => {
  const posterior = posteriorOf([[[0.9, 0.9], [0.05, 0.05]]]);
  const { choice, ranking } = choose(posterior, { weights: null, notes: [] }, "mean", 0.05);
  assert.equal(choice, "item 1");
  assert.ok(Math.abs(ranking[0].mean - 0.1) < 1e-12);
});

test("several times of a model that treats them as independent are noted", () => {
  const wins = [[[0.9, 0.9], [0.8, 0.8]]];
  const both = { weights: [0.5, 0.5], notes: [] };
  assert.deepEqual(choose(posteriorOf(wins), both, "p2bb", 0.05).notes, []);
  const apart = posteriorOf(wins, { joint: false });
  assert.deepEqual(choose(apart, both, "p2bb", 0.05).notes, ["each time for itself"]);
  assert.deepEqual(choose(apart, { weights: [1, 0], notes: [] }, "p2bb", 0.05).notes, []);
});

test("it is too early on few problems, or where the choice is no better than chance", () => {
  const only = { weights: [1], notes: [] };
  const few = posteriorOf([[[0.9, 0.9]]], { problems: [[3]] });
  assert.deepEqual(choose(few, only, "p2bb", 0.05).notes, ["item 0: 3 problems"]);
  const even = choose(posteriorOf([[[0.5, 0.5]]]), only, "p2bb", 0.05);
  assert.equal(even.early, "no better");
});

test("items with the values of the choice in all problems are named with it, and none is early", () => {
  const even = [[0.5, 0.5]];
  const wins = [even, [[0.9, 0.9]], [[0.9, 0.9]]];
  const posterior = posteriorOf(wins, { same_on: { 0: [12] } });
  const { early, same, p2bb, notes } = choose(posterior, { weights: [1], notes: [] }, "p2bb", 0.05);
  assert.equal(early, null);
  assert.deepEqual(same, [{ item: 1, problems: 12 }]);
  assert.equal(p2bb, 1);
  assert.deepEqual(notes, []);
  const apart = posteriorOf([[[0.5, 0.5], [0.5, 0.5]]], { same_on: { 0: [12, 0] } });
  assert.equal(choose(apart, { weights: [1, 0], notes: [] }, "p2bb", 0.05).same.length, 1);
  assert.equal(choose(apart, { weights: [1, 1], notes: [] }, "p2bb", 0.05).same.length, 0);
});

test("two that the draws cannot tell apart are named", () => {
  const posterior = posteriorOf([[[0.6, 0.6, 0.6, 0.3]]]);
  const { notes } = choose(posterior, { weights: [1], notes: [] }, "mean", 0.05);
  assert.deepEqual(notes, ["item 0 or item 1"]);
});

test("P(best) at each time sums to one", () => {
  assert.deepEqual(bestOverTime(posteriorOf([[[0.6, 0.6], [0.5, 0.2]]])), [
    [1, 0.25],
    [0, 0.75],
  ]);
});

test("a share that is all of the draws is not taken to be certain", () => {
  assert.ok(errorOf(1, { draws: 100, effective: 100 }) > 0);
});

test("the possible gain is the regret of the choice, split by rivals", () => {
  const posterior = posteriorOf([
    [[0.8, 0.8, 0.4, 0.6]], // 0 against 1
    [[0.9, 0.9, 0.6, 0.3]], // 0 against 2
    [[0.7, 0.7, 0.7, 0.2]], // 1 against 2
  ]);
  const { ranking } = choose(posterior, { weights: [1], notes: [] }, "p2bb", 0.05);
  const found = informationOf(ranking);
  assert.equal(found.choice, 0);
  const gains = found.rivals.map((rival) => [rival.item, Number(rival.gain.toFixed(6))]);
  assert.deepEqual(gains, [
    [2, 0.1],
    [1, 0.05],
  ]);
  assert.ok(Math.abs(found.gain - 0.15) < 1e-12);
});

test("P(best) of two at a single time is the exact one that the page has", () => {
  const exact = { p_better: [0.8, 0.3], win_rate: [0.6, 0.45] };
  const posterior = posteriorOf([[[0.6, 0.6, 0.6, 0.5], [0.4, 0.6, 0.3, 0.2]]], { exact });
  const made = choose(posterior, first, "p2bb", 0.05);
  assert.equal(made.exact, true);
  assert.deepEqual(
    made.ranking.map(({ p2bb, mean }) => [p2bb, mean]),
    [
      [0.8, 0.6],
      [1 - 0.8, 1 - 0.6],
    ],
  );
  assert.deepEqual(made.notes, ["noted"]);
  assert.deepEqual(bestOverTime(posterior)[0], [0.8, 0.3]);
  const overall = choose(posterior, { weights: [0.5, 0.5], notes: [] }, "p2bb", 0.05);
  assert.equal(overall.exact, false);
  // The draws say 0.375, and 0.875 and 0.25 at the two times instead of 0.8 and 0.3.
  const corrected = 0.375 - (0.5 * (0.875 - 0.8) + 0.5 * (0.25 - 0.3));
  const [second, other] = overall.ranking;
  assert.equal(other.item, 0);
  assert.ok(Math.abs(other.p2bb - corrected) < 1e-12);
  assert.ok(Math.abs(second.p2bb - (1 - corrected)) < 1e-12);
  assert.ok(Math.abs(other.mean - 0.525) < 1e-12);
});
