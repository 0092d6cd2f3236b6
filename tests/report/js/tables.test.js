import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { gzipSync } from "node:zlib";

import "./page.js";

const { csvOf, shownValue, tableIn } = await import("../../../polarbear/report/page/js/tables.js");

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

test("a table comes compressed", async () => {
  const table = { columns: ["a", "n"], rows: 2, data: [["x", null], [1, 2]] };
  const text = Buffer.from(gzipSync(JSON.stringify(table))).toString("base64");
  assert.deepEqual(await tableIn(text), table);
});
