// Tables of figures: read from the page, and by rows.

import { inflated } from "./packing.js";

/** The table of a figure by columns, which the page carries compressed. */
export async function tableIn(text) {
  return JSON.parse(new TextDecoder().decode(await inflated(text)));
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
