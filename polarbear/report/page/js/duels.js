// Duels on the instances of the page, as in `polarbear show --pair`.

/** The sample with its values: at(instance, algorithm, time) is the best so far, NaN if absent. */
export function sampleOf(closer, algorithms, times, bytes) {
  const values = new Float64Array(bytes);
  const at = (instance, algorithm, time) =>
    values[(instance * algorithms.length + algorithm) * times.length + time];
  return { ...closer, algorithms, times, at };
}

/** The winner, and the margin where both have a value; nothing found yet is worse than anything. */
export function duelOf(sample, instance, a, b, time) {
  const [one, two] = [sample.at(instance, a, time), sample.at(instance, b, time)];
  if (Number.isNaN(one) || Number.isNaN(two)) return null;
  const isFound = [one, two].map(Number.isFinite);
  const margin = isFound[0] && isFound[1] ? Math.abs(one - two) : null;
  const isTie = margin === null ? isFound[0] === isFound[1] : margin <= sample.tolerance;
  const isFirst = margin === null ? isFound[0] : sample.larger ? one > two : one < two;
  return { instance, a: one, b: two, margin, winner: isTie ? null : isFirst ? a : b };
}

/** All duels of a pair at a time; first those that a lost, by how much, then ties, then wins. */
export function duelsAt(sample, a, b, time) {
  const rank = (duel) => (duel.winner === b ? 0 : duel.winner === null ? 1 : 2);
  return sample.instances
    .map((_, instance) => duelOf(sample, instance, a, b, time))
    .filter((duel) => duel !== null)
    .sort((x, y) => rank(x) - rank(y) || (y.margin ?? 0) - (x.margin ?? 0));
}
