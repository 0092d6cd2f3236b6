// The live selector: a preference and a risk profile in, the choice out, at once.

import { addressOf, askedBy } from "./address.js";
import { selectorChart, showChoice, showCommand, showGain, showProblem } from "./answer.js";
import { addChart, soon } from "./charts.js";
import { bestOverTime, choose, informationOf, posteriorOf } from "./choosing.js";
import { numberControl, pick, picked, preferenceControls, radios, rounded } from "./controls.js";
import { byId, element } from "./dom.js";
import { PAGE, say } from "./page.js";
import { preferenceOn } from "./preferences.js";
import { sketchControl } from "./sketch.js";

const RISKS = {
  p2bb: ["most likely the best", "takes the algorithm with the highest probability of being the best"],
  mean: ["highest on average", "takes the highest expected value"],
  quantile: ["safest", "takes the highest lower quantile: what is exceeded with probability 1 − γ"],
  regret: ["least regret", "takes the algorithm with the lowest expected loss against the best"],
};
const DISTRIBUTIONS = {
  uniform: "uniform: every budget counts the same",
  "log-uniform": "log-uniform: every factor of ten counts the same",
  normal: "normal: known up to an error",
  lognormal: "log-normal: known up to a factor",
  triangular: "triangular: shortest, most likely, longest",
  exponential: "exponential: may be cut short at any moment",
  "worst-case": "worst case: the weakest time counts",
};

/** Build the selector, and answer at once. */
export function startSelector(selector) {
  const posterior = posteriorOf(selector, say);
  const grid = {
    times: selector.times,
    joint: selector.joint,
    limits: selector.limits,
    sentences: selector.sentences,
    say,
  };
  const place = byId("selector-controls");
  let chart = null;
  const controls = preferenceControls(grid, changed);
  const sketch = sketchControl(grid.times, changed);
  const distribution = element(
    "select",
    { id: "distribution", onchange: () => arrange(true) },
    Object.entries(DISTRIBUTIONS).map(([value, label]) => element("option", { value }, label)),
  );
  const distributionRow = element(
    "div",
    { class: "control wide" },
    element("label", { for: "distribution" }, "Distribution of the budget"),
    distribution,
  );
  const rows = element("div", { class: "controls" });
  const gamma = numberControl(
    "gamma",
    "γ, how much bad luck to guard against",
    { low: 0.01, high: 0.5, log: false, value: selector.gamma },
    changed,
  );
  const kinds = {
    at: ["One budget", "the budget is known"],
    between: ["A range", "it lies somewhere in a range"],
    distribution: ["A distribution", "it is known by its distribution"],
    sketch: ["A sketch", "you draw its distribution"],
  };
  place.append(
    radios("kind", "What do you know about the budget?", kinds, () => arrange(true)),
    rows,
    radios("risk", "What makes a choice good?", RISKS, () => arrange(true)),
    gamma.row,
  );

  /** What is known about the budget, by the name that the command has for it. */
  function asked() {
    return picked("kind") === "distribution" ? distribution.value : picked("kind");
  }

  function wanted() {
    return preferenceOn(grid, asked(), numbers());
  }

  /** The numbers that go with what is asked. */
  function numbers() {
    const name = asked();
    if (name === "sketch") return sketch.values;
    return (controls[name] || []).map((control) => control.value);
  }

  /** A reader has changed something: answer, and keep it in the address. */
  function changed() {
    answer();
    const values = asked() === "sketch" ? sketch.heights : numbers();
    const asks = { name: asked(), values, risk: picked("risk"), gamma: gamma.value };
    history.replaceState(null, "", addressOf(asks));
  }

  /** Ask what the address asks, as far as that can be meant. */
  function ask(asks) {
    const { name, values, risk } = asks;
    const isDistribution = name in DISTRIBUTIONS;
    const kind = isDistribution ? "distribution" : name;
    if (!(kind in kinds)) return;
    pick("kind", kind);
    if (isDistribution) distribution.value = name;
    if (name === "sketch") sketch.set(values);
    (controls[name] || []).forEach((control, i) => values[i] !== undefined && control.set(values[i]));
    if (risk in RISKS) pick("risk", risk);
    if (asks.gamma > 0 && asks.gamma < 1) gamma.set(asks.gamma);
  }

  function arrange(byReader = false) {
    const kind = picked("kind");
    const name = asked();
    rows.replaceChildren(
      ...(kind === "distribution" ? [distributionRow] : []),
      ...(name === "sketch" ? [sketch.row] : []),
      ...(controls[name] || []).map((control) => control.row),
    );
    gamma.row.hidden = picked("risk") !== "quantile";
    if (byReader) changed();
    else answer();
  }

  function answer() {
    const preference = wanted();
    const risk = picked("risk");
    const safe = Number.isFinite(gamma.value) && gamma.value > 0 && gamma.value < 1;
    if (preference.problem || !safe) {
      showProblem(preference.problem || "γ must lie between 0 and 1");
    } else {
      const made = choose(posterior, preference, risk, gamma.value);
      showChoice(posterior, made, gamma.value, risk, asked());
      showGain(posterior, informationOf(made.ranking));
    }
    showCommand(selector, preference.text, risk, gamma.value);
    if (chart) soon(chart);
  }

  const visit = () => {
    const asks = askedBy(location.hash);
    if (asks) ask(asks);
    arrange();
    if (asks) byId("choose").scrollIntoView();
  };
  visit();
  addEventListener("hashchange", () => askedBy(location.hash) && visit());
  const shares = bestOverTime(posterior);
  chart = addChart(
    byId("selector-chart"),
    `${PAGE.words.p_best} over the budget`,
    (view) => selectorChart(view, posterior, shares, wanted(), picked("kind"), controls),
  );
  byId("selector-chart").addEventListener("click", (event) => {
    const axis = byId("selector-chart")._fullLayout?.xaxis;
    if (!axis || picked("kind") !== "at") return;
    const box = byId("selector-chart").getBoundingClientRect();
    const t = axis.p2d(event.clientX - box.left - axis._offset);
    if (t < grid.times[0] || t > grid.times[grid.times.length - 1]) return;
    controls.at[0].set(rounded(Number(t), grid.times[0], grid.times[grid.times.length - 1]));
    changed();
  });
  globalThis.polarbear = {
    choose: (name, values, risk, level) => chosen(posterior, grid, name, values, risk, level),
  };
}

/** What scripts ask: the choice for a preference given by its name and numbers. */
function chosen(posterior, grid, name, values, risk, gamma) {
  const preference = preferenceOn(grid, name, values);
  if (preference.problem) return { problem: preference.problem };
  const made = choose(posterior, preference, risk, gamma);
  const ranking = made.ranking.map(({ item, p2bb, mean, quantile, regret }) => ({
    algorithm: posterior.items[item],
    p2bb,
    mean,
    quantile,
    regret,
  }));
  return {
    choice: made.choice,
    preference: preference.text,
    weights: preference.weights,
    ranking,
    notes: made.notes,
  };
}
