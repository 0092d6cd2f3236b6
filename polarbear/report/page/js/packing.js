// Numbers from the compact form in which the page carries them.

/** Bytes of a base64 text. */
function bytesOf(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** Shares that were packed into two bytes each; the highest code stands for a missing value. */
export function unpacked(pack) {
  const codes = new Uint16Array(bytesOf(pack).buffer); // little-endian, as browsers' machines are
  return Float64Array.from(codes, (code) => (code === 65535 ? NaN : code / 65534));
}

/** A promise of the bytes of a text that was compressed. */
export function inflated(text) {
  const squeezed = new Blob([bytesOf(text)]).stream();
  return new Response(squeezed.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}
