// How time is valued, as weights on the grid; the same integrals as `polarbear select` takes.
// Between two times of the grid a share is taken to be linear. A question can be shared by the page's
// address: #ask=at+5000&risk=mean.

import { filled, typed } from "./wording.js";

/** Where in a list of numbers the nearest to another one is. */
export function nearestIndex(values, wanted) {
  const gaps = values.map((value) => Math.abs(value - wanted));
  return gaps.indexOf(Math.min(...gaps));
}

/** P(Z <= z) of a standard normal variable: a series near zero, a continued fraction far out. */
export function normalBelow(z) {
  const x = Math.abs(z);
  if (x > 38) return z > 0 ? 1 : 0;
  const density = Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
  let tail;
  if (x < 3) {
    let term = x;
    let sum = x;
    for (let k = 1; term > 1e-17 * sum; k++) sum += term *= (x * x) / (2 * k + 1);
    tail = 0.5 - density * sum;
  } else {
    let fraction = x;
    for (let k = 60; k > 0; k--) fraction = x + k / fraction;
    tail = density / fraction;
  }
  return z > 0 ? 1 - tail : tail;
}

function normalised(weights) {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** Adds `mass` to the weights of the times around a point. */
function addAt(weights, times, point, mass) {
  if (times.length === 1) {
    weights[0] += mass;
    return;
  }
  let left = 0;
  while (left < times.length - 2 && times[left + 1] <= point) left++;
  const share = (point - times[left]) / (times[left + 1] - times[left]);
  weights[left] += mass * (1 - share);
  weights[left + 1] += mass * share;
}

function overPoint(times, point) {
  const weights = new Array(times.length).fill(0);
  addAt(weights, times, point, 1);
  return weights;
}

/** The mean over a range in which every t counts the same, or every log t. */
export function overRange(times, start, stop, log = false) {
  const points = [start, ...times.filter((t) => t > start && t < stop), stop];
  const place = log ? points.map(Math.log) : points;
  const weights = new Array(times.length).fill(0);
  if (start === stop) return overPoint(times, start);
  for (let i = 0; i < points.length; i++) {
    const before = i > 0 ? place[i] - place[i - 1] : 0;
    const after = i < points.length - 1 ? place[i + 1] - place[i] : 0;
    addAt(weights, times, points[i], (before + after) / 2);
  }
  return normalised(weights);
}

/** The mean under a distribution cut off at the grid; partialMean(x) integrates t p(t) up to x. */
function overDistribution(times, below, partialMean) {
  const weights = new Array(times.length).fill(0);
  if (times.length === 1) return { weights: [1], mass: 1 };
  for (let i = 0; i + 1 < times.length; i++) {
    const mass = below(times[i + 1]) - below(times[i]);
    const moment = partialMean(times[i + 1]) - partialMean(times[i]);
    const later = (moment - times[i] * mass) / (times[i + 1] - times[i]);
    const kept = Math.min(Math.max(later, 0), mass);
    weights[i] += mass - kept;
    weights[i + 1] += kept;
  }
  const mass = below(times[times.length - 1]) - below(times[0]);
  return { weights: mass > 0 ? normalised(weights) : weights, mass };
}

function normal(mean, sd) {
  return {
    below: (t) => normalBelow((t - mean) / sd),
    partialMean: (t) => {
      const z = (t - mean) / sd;
      return mean * normalBelow(z) - (sd * Math.exp(-0.5 * z * z)) / Math.sqrt(2 * Math.PI);
    },
  };
}

function logNormal(median, sigma) {
  const mean = median * Math.exp((sigma * sigma) / 2);
  const place = (t) => Math.log(t / median) / sigma;
  return {
    below: (t) => normalBelow(place(t)),
    partialMean: (t) => mean * normalBelow(place(t) - sigma),
  };
}

function triangular(low, mode, high) {
  const [rising, falling, whole] = [mode - low, high - mode, high - low];
  const cut = (t) => Math.min(Math.max(t, low), high);
  const below = (time) => {
    const t = cut(time);
    if (t < mode) return (t - low) ** 2 / (whole * rising);
    return falling > 0 ? 1 - (high - t) ** 2 / (whole * falling) : 1;
  };
  const integralOfBelow = (t) => {
    if (t < mode) return (t - low) ** 3 / (3 * whole * rising);
    const sinceMode = falling > 0 ? (falling ** 3 - (high - t) ** 3) / (3 * whole * falling) : 0;
    return t - mode + rising ** 2 / (3 * whole) - sinceMode;
  };
  return { below, partialMean: (t) => cut(t) * below(t) - integralOfBelow(cut(t)) };
}

function exponential(mean) {
  return {
    below: (t) => -Math.expm1(-t / mean),
    partialMean: (t) => mean * -Math.expm1(-t / mean) - t * Math.exp(-t / mean),
  };
}

/** A distribution cut off at the grid, or why nothing of it is left there. */
function cutOff({ times, limits, sentences, say }, text, distribution) {
  const { weights, mass } = overDistribution(times, distribution.below, distribution.partialMean);
  if (!(mass >= limits.least_mass)) return { text, problem: sentences.off_the_grid };
  const note = filled(sentences.cut_off, { share: say.percent(mass) });
  return { text, weights, notes: mass < limits.worth_a_note ? [note] : [] };
}

/** Distributions of the budget: their functions, and what their numbers must be. */
const DISTRIBUTIONS = {
  normal: [normal, (_, sd) => sd > 0, "the standard deviation must be above 0"],
  lognormal: [logNormal, (median, sigma) => median > 0 && sigma > 0, "both numbers must be above 0"],
  triangular: [
    triangular,
    (low, mode, high) => low <= mode && mode <= high && low < high,
    "shortest, most likely and longest budget must be in this order",
  ],
  exponential: [exponential, (mean) => mean > 0, "the mean must be above 0"],
};

/**
 * A preference put on the grid: { text, weights, notes }, without weights where the worst time
 * counts, with a problem where it does not fit the grid.
 */
export function preferenceOn(grid, name, values) {
  const { times, joint, sentences } = grid;
  const [first, last] = [times[0], times.at(-1)];
  const numbers = values.map((value) => typed(value)).join(name === "between" ? " and " : " ");
  const text = numbers ? `${name} ${numbers}` : name;
  if (name in DISTRIBUTIONS) {
    const [distribution, isValid, problem] = DISTRIBUTIONS[name];
    return isValid(...values) ? cutOff(grid, text, distribution(...values)) : { text, problem };
  }
  if (values.some((t) => !(t >= first && t <= last))) return { text, problem: sentences.grid };
  const weighted = (weights, notes = []) => ({ text, weights, notes });
  switch (name) {
    case "at": {
      const [t] = values;
      if (joint || times.includes(t)) return weighted(overPoint(times, t));
      const nearest = times[nearestIndex(times, t)];
      const note = filled(sentences.nearest, { t: typed(t), nearest: grid.say.time(nearest) });
      return weighted(overPoint(times, nearest), [note]);
    }
    case "between":
      if (values[1] < values[0]) return { text, problem: "the range ends before it begins" };
      return weighted(overRange(times, ...values));
    case "uniform":
      return weighted(overRange(times, first, last));
    case "log-uniform":
      return weighted(overRange(times, first, last, true));
    case "worst-case":
      return weighted(null);
    default:
      throw new Error(`unknown preference ${name}`);
  }
}

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
