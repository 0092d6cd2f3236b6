// Tables of figures by rows.

/** A table with its columns in full: some come as a list of values and places in it. */
export function unfolded(table) {
  const whole = (column) =>
    Array.isArray(column) ? column : column.codes.map((code) => column.values[code]);
  return { ...table, data: table.data.map(whole) };
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
