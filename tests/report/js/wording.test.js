import assert from "node:assert/strict";
import test from "node:test";

import {
  apart,
  filled,
  fixed,
  pieces,
  significant,
  typed,
} from "../../../polarbear/report/page/js/wording.js";

test("half way between two digits the even one is taken, and only exactly there", () => {
  assert.equal(fixed(0.125, 2), "0.12");
  assert.equal(fixed(0.375, 2), "0.38");
  assert.equal(fixed(0.295, 2), "0.29"); // a little less than it looks
  assert.equal(fixed(2.5, 0), "2");
  assert.equal(fixed(3.5, 0), "4");
});

test("two values have as many digits as show how far apart they are", () => {
  assert.deepEqual(apart(-13997.31, -13999.42), ["-13997.3", "-13999.4"]);
  assert.deepEqual(apart(1.5, 2.25), ["1.5", "2.25"]);
  assert.deepEqual(apart(14000.1, 14000.1), ["14000", "14000"]);
  assert.deepEqual(apart(-9998.231, -10000.44), ["-9998.23", "-10000.4"]);
  assert.deepEqual(apart(1e9, 3e9), ["1e+09", "3e+09"]);
  assert.deepEqual(apart(Number.POSITIVE_INFINITY, 2), ["–", "2"]);
});

test("digits that matter stand without zeros behind them", () => {
  assert.equal(significant(0.25, 4), "0.25");
  assert.equal(significant(758.04, 4), "758");
  assert.equal(significant(9.9996, 4), "10");
  assert.equal(significant(100.25, 4), "100.2");
  assert.equal(significant(0.0000123, 2), "1.2e-05");
  assert.equal(significant(0, 4), "0");
});

test("a typed number reads back as the same number", () => {
  for (const value of [5000, 0.25, 1e-7, 123456.789, 2e15]) {
    assert.equal(Number(typed(value)), value);
  }
});

test("a name with braces fills a gap and opens none", () => {
  const sentence = "{first} and {second} differ.";
  assert.equal(filled(sentence, { first: "{second}", second: "B" }), "{second} and B differ.");
});

test("pieces keep elements apart from the words between them", () => {
  const element = { tag: "strong" };
  assert.deepEqual(pieces("{p} likely", { p: element }), [element, " likely"]);
});
