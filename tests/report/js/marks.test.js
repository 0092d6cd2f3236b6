import assert from "node:assert/strict";
import test from "node:test";

import "./page.js";
import { apart, labelOf, plain, shortened, withAlpha } from "../../../polarbear/report/page/js/marks.js";

test("labels are moved apart, no further than their bounds", () => {
  const places = apart([0.5, 0.5, 0.51], 0.1, 0, 1);
  places.slice(1).forEach((place, i) => assert.ok(place - places[i] > 0.0999));
  assert.deepEqual(apart([0.2, 0.8], 0.1, 0, 1), [0.2, 0.8]);
  assert.ok(apart([1, 1], 0.1, 0, 1)[1] <= 1);
});

test("a colour can be seen through", () => {
  assert.equal(withAlpha("#ff8000", 0.5), "rgba(255,128,0,0.5)");
});

test("a long name is cut in its middle, and no letter is cut in two", () => {
  const short = shortened("🐻".repeat(40), 9);
  assert.equal(short, `${"🐻".repeat(4)}…${"🐻".repeat(4)}`);
  assert.equal(shortened("a\n b"), "a b");
});

test("a chart takes nothing in a name for a tag or an entity", () => {
  assert.equal(plain("<b>&lt;"), "\u2068&lt;b&gt;&amp;lt;\u2069");
});

test("charts call an algorithm by its label, and by its name where it has none", () => {
  assert.equal(labelOf("A"), "\u2068A\u2069");
  assert.equal(labelOf("B"), "\u2068second &lt;B&gt;\u2069");
});
