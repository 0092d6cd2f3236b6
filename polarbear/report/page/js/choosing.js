// Who to run: a preference and a risk profile applied to the draws that came with the page.

import { unpacked } from "./packing.js";
import { filled } from "./wording.js";

/** The draws: at(item, time) are the shares of firsts of one algorithm at one time, in all draws. */
export function posteriorOf(selector) {
  const { times, draws, items } = selector;
  const all = unpacked(selector.theta);
  const at = (item, time) => {
    const start = (item * times.length + time) * draws;
    return all.subarray(start, start + draws);
  };
  return { ...selector, size: items.length, at };
}

/** What each draw is worth, for each item: the weighted mean over time, or the worst time. */
function valuesOf(posterior, weights) {
  return Array.from({ length: posterior.size }, (_, item) => {
    const values = new Float64Array(posterior.draws).fill(weights ? 0 : Infinity);
    for (let time = 0; time < posterior.times.length; time++) {
      if (weights && weights[time] === 0) continue;
      const ratings = posterior.at(item, time);
      if (weights) for (let i = 0; i < values.length; i++) values[i] += weights[time] * ratings[i];
      else for (let i = 0; i < values.length; i++) values[i] = Math.min(values[i], ratings[i]);
    }
    return values;
  });
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

/** For each item, in which draws it is the best; those that tie for it share it. */
function winsOf(values, highest) {
  const winners = new Uint16Array(highest.length);
  for (const one of values) {
    for (let i = 0; i < one.length; i++) if (one[i] >= highest[i]) winners[i]++;
  }
  return values.map((one) => one.map((value, i) => (value >= highest[i] ? 1 / winners[i] : 0)));
}

/** All criteria of values[item][draw]; only of the regret is less better. */
function judge(values, gamma) {
  const highest = highestOf(values);
  const wins = winsOf(values, highest);
  const best = meanOf(highest);
  return values.map((one, item) => {
    const mean = meanOf(one);
    return {
      item,
      p2bb: meanOf(wins[item]),
      mean,
      quantile: quantileOf(one, gamma),
      regret: Math.max(best - mean, 0),
      wins: wins[item],
      values: one,
    };
  });
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
  const ranking = ordered(judge(valuesOf(posterior, preference.weights), gamma), risk);
  const [first, second] = ranking;
  const notes = [...preference.notes];
  const several = !preference.weights || preference.weights.filter((w) => w !== 0).length > 1;
  if (several && !posterior.joint && posterior.times.length > 1) {
    notes.push(posterior.sentences.each_time);
  }
  const name = (one) => posterior.items[one.item];
  if (second && tooClose(first, second, risk, posterior)) {
    notes.push(filled(posterior.sentences.close, { first: name(first), second: name(second) }));
  }
  return { ranking, notes, choice: name(first) };
}

/** What knowing everything would gain over the choice, and how much of it is due to whom. */
export function informationOf([first, ...others]) {
  const gainOf = (rival) =>
    meanOf(rival.wins.map((won, i) => won * Math.max(rival.values[i] - first.values[i], 0)));
  const rivals = others
    .filter((rival) => rival.p2bb > 0)
    .map((rival) => ({ item: rival.item, p2bb: rival.p2bb, gain: gainOf(rival) }))
    .sort((a, b) => b.gain - a.gain);
  return { choice: first.item, gain: first.regret, rivals };
}

/**
 * Slots that run side by side, filled one after another by whoever adds most: on how many instances
 * one of those so far is first, which is the sum of their shares.
 */
export function slotsOf(posterior, weights, most = 3) {
  const taken = [];
  const slots = [];
  const shareOf = (items) => {
    const at = (_, time) => {
      const sum = new Float64Array(posterior.draws);
      for (const item of items) posterior.at(item, time).forEach((share, i) => (sum[i] += share));
      return sum;
    };
    return meanOf(valuesOf({ ...posterior, size: 1, at }, weights)[0]);
  };
  while (slots.length < Math.min(most, posterior.size)) {
    const free = posterior.items.map((_, item) => item).filter((item) => !taken.includes(item));
    const shares = free.map((item) => shareOf([...taken, item]));
    const share = Math.max(...shares);
    taken.push(free[shares.indexOf(share)]);
    slots.push({ item: taken.at(-1), share, more: share - (slots.at(-1)?.share ?? 0) });
  }
  return slots;
}

/** P(best)[item][time]: who would be best if the run ended there. */
export function bestOverTime(posterior) {
  const shares = Array.from({ length: posterior.size }, () => []);
  for (let time = 0; time < posterior.times.length; time++) {
    const values = shares.map((_, item) => posterior.at(item, time));
    winsOf(values, highestOf(values)).forEach((wins, item) => shares[item].push(meanOf(wins)));
  }
  return shares;
}
