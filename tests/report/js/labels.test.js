import assert from "node:assert/strict";
import test from "node:test";

import "./page.js";
import {
  labelOf,
  plain,
  shortened,
  withShortWords,
} from "../../../polarbear/report/page/js/labels.js";

test("where there is little room, words lose their ends before they are lost", () => {
  assert.equal(withShortWords("BIPOP small cum.", 11), "BIP sma cum");
  assert.equal(withShortWords("algorithm 01", 11), "algorith 01");
  assert.equal(withShortWords("CMA-ES", 11), "CMA-ES");
  assert.equal(withShortWords("one two three four five six", 11), null);
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
