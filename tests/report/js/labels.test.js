import assert from "node:assert/strict";
import test from "node:test";

import "./page.js";
import { labelOf, plain, shortened } from "../../../polarbear/report/page/js/labels.js";

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
