// Numbers from the compact form in which the page carries them.

/** Bytes of a base64 text. */
function bytesOf(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/** Shares that were packed into two bytes each; the highest code stands for a missing value. */
export function unpacked(pack) {
  const bytes = bytesOf(pack);
  return Float64Array.from({ length: bytes.length / 2 }, (_, i) => {
    const code = bytes[2 * i] + 256 * bytes[2 * i + 1];
    return code === 65535 ? NaN : code / 65534;
  });
}

/** A promise of the bytes of a text that was compressed. */
export function inflated(text) {
  const squeezed = new Blob([bytesOf(text)]).stream();
  return new Response(squeezed.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}
