import assert from "node:assert/strict";
import test from "node:test";

import { grouped, rowsOf, unfolded } from "../../../polarbear/report/page/js/rows.js";

test("a column that comes in runs is unfolded, too", () => {
  const table = { columns: ["a"], rows: 4, data: [{ values: ["x", null], runs: [0, 3, 1, 1] }] };
  assert.deepEqual(unfolded(table).data, [["x", "x", "x", null]]);
});

test("a folded column is unfolded, and rows are read by column", () => {
  const table = {
    columns: ["a", "n"],
    rows: 3,
    data: [{ values: ["x", null], codes: "AAEA" }, [1, 2, 3]],
  };
  assert.deepEqual(rowsOf(unfolded(table)), [
    { a: "x", n: 1 },
    { a: null, n: 2 },
    { a: "x", n: 3 },
  ]);
});

test("groups come in the order in which their keys first come", () => {
  const groups = grouped([{ k: "b" }, { k: "a" }, { k: "b" }], (row) => row.k);
  assert.deepEqual(
    [...groups].map(([key, rows]) => [key, rows.length]),
    [
      ["b", 2],
      ["a", 1],
    ],
  );
});
