// Numbers from the compact form in which the page carries them.

/** Bytes of a base64 text. */
export function bytesOf(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/**
 * Numbers that were packed into two bytes each. Steps are finer near zero: the square root was
 * rounded. The highest code stands for a missing value.
 */
export function unpacked(pack) {
  const bytes = bytesOf(pack.codes);
  const values = new Float32Array(bytes.length / 2);
  for (let i = 0; i < values.length; i++) {
    const code = bytes[2 * i] + 256 * bytes[2 * i + 1];
    const root = code / 65534;
    values[i] = code === 65535 ? NaN : root * root * pack.top;
  }
  return values;
}

/** A promise of the bytes of a text that was compressed. */
export function inflated(text) {
  const squeezed = new Blob([bytesOf(text)]).stream();
  return new Response(squeezed.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}
