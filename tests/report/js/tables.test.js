import assert from "node:assert/strict";
import test from "node:test";

import "./page.js";

const { csvOf, shownValue } = await import("../../../polarbear/report/page/js/tables.js");

test("a file quotes what would end a field, and leaves out what is missing", () => {
  const table = { columns: ["a", "b,c"], rows: 2, data: [['say "x"', null], [1.5, "two\nlines"]] };
  assert.equal(csvOf(table), 'a,"b,c"\r\n"say ""x""",1.5\r\n,"two\nlines"\r\n');
});

test("numbers in a table have five digits that matter", () => {
  assert.equal(shownValue(12345.678), "12,346");
  assert.equal(shownValue(0.000123456), "0.00012346");
  assert.equal(shownValue(null), "");
  assert.equal(shownValue(true), "yes");
});
