// What a reader asks, in the page's address, so that it can be shared: #ask=at+5000&risk=mean.

/** What an address asks: { name, values, risk, gamma }; null where it asks nothing. */
export function askedBy(hash) {
  const found = new URLSearchParams(hash.replace(/^#/, ""));
  if (!found.has("ask")) return null;
  const [name, ...words] = found.get("ask").split(" ");
  const values = words.map(Number);
  const gamma = Number(found.get("gamma") ?? "NaN");
  return { name, values: values.every(Number.isFinite) ? values : [], risk: found.get("risk"), gamma };
}

/** The address of what is asked; the level only where it matters. */
export function addressOf({ name, values, risk, gamma }) {
  const made = new URLSearchParams({ ask: [name, ...values.map(String)].join(" "), risk });
  if (risk === "quantile") made.set("gamma", String(gamma));
  return `#${made}`;
}
