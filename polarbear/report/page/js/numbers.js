// Numbers: from the page's compact form, and as people read them.

/** Bytes of a base64 text. */
function bytesOf(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/**
 * Numbers that were packed into two bytes each. Steps are finer near zero: the square root was
 * rounded. The highest code stands for a missing value.
 */
function unpacked(pack) {
  const bytes = bytesOf(pack.codes);
  const values = new Float32Array(bytes.length / 2);
  for (let i = 0; i < values.length; i++) {
    const code = bytes[2 * i] + 256 * bytes[2 * i + 1];
    const root = code / 65534;
    values[i] = code === 65535 ? NaN : root * root * pack.top;
  }
  return values;
}

/** A number with the digits that matter, as it can be typed: 5000, 0.25, 1e-7. */
function typed(value, digits = 10) {
  return String(Number(value.toPrecision(digits)));
}

/** A budget as people write it: 12,500 or 0.25. */
function budget(value) {
  const digits = Math.abs(value) >= 1000 ? Math.max(4, Math.ceil(Math.log10(Math.abs(value)))) : 4;
  return Number(value.toPrecision(digits)).toLocaleString("en", {
    maximumSignificantDigits: digits,
  });
}

/** Two digits, but never certain when it is not. */
function probability(value) {
  if (value >= 0.995) return "over 0.99";
  return value > 0 && value < 0.005 ? "under 0.01" : value.toFixed(2);
}

/** A small number with the digits that matter. */
function small(value) {
  if (value === 0) return "0";
  return value < 1e-4 ? "less than 0.0001" : typed(value, 2);
}

/** Whole numbers with thousands set apart. */
function count(number, what) {
  return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
}
