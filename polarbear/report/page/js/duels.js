// Duels on the instances of the page, as in `polarbear show --pair`.

/**
 * The sample with its values: at(instance, algorithm, time) is the best so far, NaN if absent.
 * With constraints it is the best feasible one, and positionAt orders outcomes without one.
 */
export function sampleOf(closer, algorithms, times, bytes, positionBytes = null) {
  const values = new Float64Array(bytes);
  const positions = positionBytes ? new Float64Array(positionBytes) : values;
  const index = (instance, algorithm, time) => (instance * algorithms.length + algorithm) * times.length + time;
  const at = (...where) => values[index(...where)];
  const positionAt = (...where) => positions[index(...where)];
  return { ...closer, algorithms, times, at, positionAt };
}

/** The winner, and the margin where both have a value; nothing found yet is worse than anything. */
export function duelOf(sample, instance, a, b, time) {
  const [one, two] = [sample.at(instance, a, time), sample.at(instance, b, time)];
  if (Number.isNaN(one) || Number.isNaN(two)) return null;
  const isFound = [one, two].map(Number.isFinite);
  const margin = isFound[0] && isFound[1] ? Math.abs(one - two) : null;
  const positions = [sample.positionAt(instance, a, time), sample.positionAt(instance, b, time)];
  const isTie = margin === null ? positions[0] === positions[1] : margin <= sample.tolerance;
  const isFirst = margin === null ? isFirstOf(isFound, positions) : sample.larger ? one > two : one < two;
  return { instance, a: one, b: two, margin, winner: isTie ? null : isFirst ? a : b };
}

/** Whether the first of two outcomes is better, of which one or both have no value. */
function isFirstOf(isFound, positions) {
  return isFound[0] === isFound[1] ? positions[0] < positions[1] : isFound[0];
}

/** All duels of a pair at a time; first those that a lost, by how much, then ties, then wins. */
export function duelsAt(sample, a, b, time) {
  const rank = (duel) => (duel.winner === b ? 0 : duel.winner === null ? 1 : 2);
  return sample.instances
    .map((_, instance) => duelOf(sample, instance, a, b, time))
    .filter((duel) => duel !== null)
    .sort((x, y) => rank(x) - rank(y) || (y.margin ?? 0) - (x.margin ?? 0));
}
