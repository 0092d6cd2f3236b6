// The choice: a preference and a risk profile applied to the draws that came with the page.

import { unpacked } from "./packing.js";
import { filled } from "./wording.js";

/** Pairs of n items, in the order in which the page has their duels. */
function pairsOf(n) {
  return Array.from({ length: n }, (_, a) => a).flatMap((a) =>
    Array.from({ length: n - a - 1 }, (_, i) => [a, a + 1 + i]),
  );
}

/** The draws: wins(pair, time) are the win probabilities of the first of a pair, in all draws. */
export function posteriorOf(selector, say) {
  const { times, draws } = selector;
  const all = unpacked(selector.wins);
  const wins = (pair, time) => {
    const start = (pair * times.length + time) * draws;
    return all.subarray(start, start + draws);
  };
  return { ...selector, wins, say };
}

/** Values of a pair in each draw: the weighted mean of win probabilities, or the worst time's. */
function pairValues(posterior, pair, weights) {
  const sides = [0, 1].map(() => new Float64Array(posterior.draws).fill(weights ? 0 : Infinity));
  for (let time = 0; time < posterior.times.length; time++) {
    const weight = weights ? weights[time] : null;
    if (weight === 0) continue;
    const wins = posterior.wins(pair, time);
    sides.forEach((values, side) => {
      for (let i = 0; i < values.length; i++) {
        const won = side ? 1 - wins[i] : wins[i];
        values[i] = weights ? values[i] + weight * won : Math.min(values[i], won);
      }
    });
  }
  return sides;
}

/**
 * For each item its values, the lowest over all rivals in each draw, its strongest rival, which is
 * the one with the lowest mean, and the number of problems that the two share.
 */
function valuesOf(posterior, weights) {
  const { items, draws } = posterior;
  const found = items.map(() => ({ values: null, rival: null, against: Infinity, problems: null }));
  pairsOf(items.length).forEach((pair, number) => {
    const shared = posterior.problems[number]?.filter((_, time) => !weights || weights[time] > 0);
    pairValues(posterior, number, weights).forEach((values, side) => {
      const one = found[pair[side]];
      const against = meanOf(values);
      if (against < one.against) {
        one.rival = pair[1 - side];
        one.against = against;
        one.problems = shared ? Math.min(...shared) : null;
      }
      one.values = one.values ? one.values.map((value, i) => Math.min(value, values[i])) : values;
    });
  });
  return found.map((one) => (one.values ? one : { ...one, values: new Float64Array(draws).fill(1) }));
}

function meanOf(values) {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

/** Linear between order statistics. */
function quantileOf(values, gamma) {
  const sorted = Float64Array.from(values).sort();
  const place = gamma * (sorted.length - 1);
  const low = Math.floor(place);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (place - low) * (sorted[high] - sorted[low]);
}

function highestOf(values) {
  const highest = Float64Array.from(values[0]);
  for (const one of values) {
    for (let i = 0; i < highest.length; i++) highest[i] = Math.max(highest[i], one[i]);
  }
  return highest;
}

/** For each item, the draws in which it is the best; ties are shared. */
function winsOf(values, highest) {
  const winners = new Uint16Array(highest.length);
  for (const one of values) {
    for (let i = 0; i < one.length; i++) if (one[i] >= highest[i]) winners[i]++;
  }
  return values.map((one) => one.map((value, i) => (value >= highest[i] ? 1 / winners[i] : 0)));
}

/** All criteria of items with values in each draw; only of the regret is less better. */
function judge(items, gamma) {
  const values = items.map((item) => item.values);
  const highest = highestOf(values);
  const wins = winsOf(values, highest);
  const best = meanOf(highest);
  return items.map((one, item) => {
    const mean = meanOf(one.values);
    return {
      ...one,
      item,
      p2bb: meanOf(wins[item]),
      mean,
      quantile: quantileOf(one.values, gamma),
      regret: Math.max(best - mean, 0),
      wins: wins[item],
    };
  });
}

/** The share of draws in which a win probability is above a half. */
function shareAbove(wins) {
  return meanOf(Array.from(wins, (won) => (won > 0.5 ? 1 : won < 0.5 ? 0 : 0.5)));
}

/**
 * The criteria of two items with P(best) and the mean as the page has them without draws: exact at
 * one time; between two, P(best) of the draws is corrected by its error at these.
 */
function corrected(criteria, { exact, wins }, weights) {
  const times = weights ? weights.flatMap((weight, time) => (weight === 0 ? [] : [time])) : [];
  if (!exact || times.length === 0 || times.length > 2) return criteria;
  const sum = (numbers) => times.reduce((total, time) => total + weights[time] * numbers(time), 0);
  const mean = sum((time) => exact.win_rate[time]);
  const error = sum((time) => shareAbove(wins(0, time)) - exact.p_better[time]);
  const p = times.length === 1 ? exact.p_better[times[0]] : criteria[0].p2bb - error;
  const p2bb = Math.min(Math.max(p, 0), 1);
  return [
    { ...criteria[0], p2bb, mean },
    { ...criteria[1], p2bb: 1 - p2bb, mean: 1 - mean },
  ];
}

/** From best to worst; the mean decides between equals, then the given order. */
function ordered(criteria, risk) {
  const merit = (one) => (risk === "regret" ? -one.regret : one[risk]);
  return [...criteria].sort((a, b) => merit(b) - merit(a) || b.mean - a.mean || a.item - b.item);
}

/** Monte-Carlo error of a probability of being best, at worst. */
export function errorOf(share, posterior) {
  const smoothed = (share * posterior.draws + 0.5) / (posterior.draws + 1);
  return Math.sqrt((smoothed * (1 - smoothed)) / posterior.effective);
}

/** Whether the first two differ by less than two Monte-Carlo errors. */
function tooClose(first, second, risk, posterior) {
  if (risk === "quantile") return false;
  const key = risk === "p2bb" ? "wins" : "values";
  const gaps = first[key].map((value, i) => value - second[key][i]);
  const mean = meanOf(gaps);
  const spread = Math.sqrt(meanOf(gaps.map((gap) => (gap - mean) ** 2)));
  return Math.abs(mean) < (2 * spread) / Math.sqrt(posterior.effective);
}

/** The choice for a preference on the grid, with every criterion of every candidate. */
export function choose(posterior, preference, risk, gamma) {
  const { weights } = preference;
  const criteria = judge(valuesOf(posterior, weights), gamma);
  const ranking = ordered(corrected(criteria, posterior, weights), risk);
  const [first, second] = ranking;
  const notes = [...preference.notes];
  const several = !weights || weights.filter((w) => w !== 0).length > 1;
  const exact = Boolean(posterior.exact) && !several;
  if (several && !posterior.joint && posterior.times.length > 1) {
    notes.push(posterior.sentences.each_time);
  }
  const name = (one) => posterior.items[one.item];
  const same = sameAs(posterior, first, weights);
  const together = ranking.filter((one) => one === first || same.some(({ item }) => item === one.item));
  const p2bb = together.reduce((sum, one) => sum + one.p2bb, 0);
  const early = second ? tooEarly(posterior, { ...first, p2bb }) : null;
  if (early) notes.push(filled(posterior.sentences.too_early, { name: name(first), reason: early }));
  if (second && !exact && !together.includes(second) && tooClose(first, second, risk, posterior)) {
    notes.push(filled(posterior.sentences.close, { first: name(first), second: name(second) }));
  }
  return { ranking, notes, choice: name(first), early, exact, same: early ? [] : same, p2bb };
}

/** The other items that had the values of one in all problems, at the times that count. */
function sameAs(posterior, one, weights) {
  const same = [];
  pairsOf(posterior.items.length).forEach((pair, number) => {
    const counts = posterior.same_on?.[number];
    if (!counts || !pair.includes(one.item)) return;
    const problems = Math.min(...counts.filter((_, time) => !weights || weights[time] > 0));
    if (problems > 0) same.push({ item: pair[0] === one.item ? pair[1] : pair[0], problems });
  });
  return same;
}

/** Why the evidence is too small to recommend a choice; null where it is not. */
function tooEarly({ items, limits, sentences, say }, first) {
  if (first.problems === 0) return sentences.no_problems;
  if (first.problems !== null && first.problems < limits.least_problems) {
    return filled(sentences.few_problems, { problems: say.counted(first.problems, "problem") });
  }
  return first.p2bb <= 1 / items.length ? sentences.no_better : null;
}

/** The gain of perfect knowledge over the choice, split by the rival that would be chosen. */
export function informationOf([first, ...others]) {
  const gainOf = (rival) =>
    meanOf(rival.wins.map((won, i) => won * Math.max(rival.values[i] - first.values[i], 0)));
  const rivals = others
    .filter((rival) => rival.p2bb > 0)
    .map((rival) => ({ item: rival.item, p2bb: rival.p2bb, gain: gainOf(rival) }))
    .sort((a, b) => b.gain - a.gain);
  return { choice: first.item, gain: first.regret, rivals };
}

/** P(best)[item][time]: by duels at that time alone. */
export function bestOverTime(posterior) {
  if (posterior.exact) {
    const first = posterior.exact.p_better;
    return [first, first.map((p) => 1 - p)];
  }
  const shares = posterior.items.map(() => []);
  posterior.times.forEach((_, time) => {
    const only = posterior.times.map((_, other) => Number(other === time));
    const values = valuesOf(posterior, only).map((one) => one.values);
    winsOf(values, highestOf(values)).forEach((wins, item) => shares[item].push(meanOf(wins)));
  });
  return shares;
}
