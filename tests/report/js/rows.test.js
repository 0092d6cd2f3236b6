import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { gzipSync } from "node:zlib";

import { grouped, rowsOf, tableIn } from "../../../polarbear/report/page/js/rows.js";

test("a table comes compressed, and rows are read by column", async () => {
  const table = { columns: ["a", "n"], rows: 2, data: [["x", null], [1, 2]] };
  const text = Buffer.from(gzipSync(JSON.stringify(table))).toString("base64");
  assert.deepEqual(rowsOf(await tableIn(text)), [
    { a: "x", n: 1 },
    { a: null, n: 2 },
  ]);
});

test("groups come in the order in which their keys first come", () => {
  const groups = grouped([{ k: "b" }, { k: "a" }, { k: "b" }], (row) => row.k);
  const sizes = [...groups].map(([key, rows]) => [key, rows.length]);
  assert.deepEqual(sizes, [["b", 2], ["a", 1]]);
});
