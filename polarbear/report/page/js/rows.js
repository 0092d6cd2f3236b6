// Tables of figures by rows.

import { bytesOf } from "./packing.js";

/** A table with its columns in full: some come as a list of values and places in it. */
export function unfolded(table) {
  const whole = (column) => {
    if (Array.isArray(column)) return column;
    if (column.runs) return fromRuns(column);
    const codes = typeof column.codes === "string" ? bytesOf(column.codes) : column.codes;
    return Array.from(codes, (code) => column.values[code]);
  };
  return { ...table, data: table.data.map(whole) };
}

/** A column that comes in runs: a place among its values, and for how many rows it holds. */
function fromRuns({ values, runs }) {
  const made = [];
  for (let i = 0; i < runs.length; i += 2) {
    for (let row = 0; row < runs[i + 1]; row++) made.push(values[runs[i]]);
  }
  return made;
}

/** The rows of a table as objects, by column. */
export function rowsOf(table) {
  return Array.from({ length: table.rows }, (_, row) =>
    Object.fromEntries(table.columns.map((name, i) => [name, table.data[i][row]])),
  );
}

/** Rows with the same key, in the order in which keys first come. */
export function grouped(rows, key) {
  const groups = new Map();
  for (const row of rows) {
    const name = key(row);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(row);
  }
  return groups;
}
