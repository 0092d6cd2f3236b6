// The live selector: a preference and a risk profile in, the choice out, at once.

import { addressOf, askedBy } from "./address.js";
import { selectorChart, showChoice, showCommand, showGain, showProblem } from "./answer.js";
import { addChart, soon } from "./charts.js";
import { bestOverTime, choose, informationOf, posteriorOf } from "./choosing.js";
import { numberControl, pick, picked, preferenceControls, radios, rounded } from "./controls.js";
import { byId, element } from "./dom.js";
import { PAGE, say } from "./page.js";
import { preferenceOn } from "./preferences.js";

const RISKS = {
  p2bb: ["most likely the best", "takes the algorithm with the highest probability of being the best"],
  mean: ["highest on average", "takes the highest expected value"],
  quantile: ["safest", "takes the highest lower quantile: what is exceeded with probability 1 − γ"],
  regret: ["least regret", "takes the algorithm with the lowest expected loss against the best"],
};
const KINDS = {
  at: ["One budget", "the budget is known"],
  between: ["A range", "it lies somewhere in a range"],
  distribution: ["A distribution", "it is known by its distribution"],
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
  const { times } = posterior;
  const [first, last] = [times[0], times.at(-1)];
  let chart = null;
  const controls = preferenceControls(posterior, changed);
  const distribution = element(
    "select",
    { id: "distribution", onchange: changed },
    Object.entries(DISTRIBUTIONS).map(([value, label]) => element("option", { value }, label)),
  );
  const label = element("label", { for: "distribution" }, "Distribution of the budget");
  const distributionRow = element("div", { class: "control wide" }, label, distribution);
  const rows = element("div", { class: "controls" });
  const levels = { low: 0.01, high: 0.5, log: false, value: selector.gamma };
  const gamma = numberControl("gamma", "γ, how much bad luck to guard against", levels, changed);
  byId("selector-controls").append(
    radios("kind", "What do you know about the budget?", KINDS, changed),
    rows,
    radios("risk", "What makes a choice good?", RISKS, changed),
    gamma.row,
  );

  /** What is asked: the name and the numbers of a preference, and a risk profile. */
  function asked() {
    const name = picked("kind") === "distribution" ? distribution.value : picked("kind");
    const values = (controls[name] || []).map((control) => control.value);
    return { name, values, risk: picked("risk"), gamma: gamma.value };
  }

  const wanted = () => preferenceOn(posterior, asked().name, asked().values);

  /** A reader has changed something: answer, and keep it in the address. */
  function changed() {
    answer();
    history.replaceState(null, "", addressOf(asked()));
  }

  /** Ask what the address asks, as far as that can be meant. */
  function ask({ name, values, risk, gamma: level }) {
    const kind = name in DISTRIBUTIONS ? "distribution" : name;
    if (!(kind in KINDS)) return;
    pick("kind", kind);
    if (kind === "distribution") distribution.value = name;
    (controls[name] || []).forEach((control, i) => values[i] !== undefined && control.set(values[i]));
    if (risk in RISKS) pick("risk", risk);
    if (level > 0 && level < 1) gamma.set(level);
  }

  function answer() {
    const { name, risk } = asked();
    const parameters = (controls[name] || []).map((control) => control.row);
    const shown = picked("kind") === "distribution" ? [distributionRow, ...parameters] : parameters;
    if (shown.length !== rows.children.length || shown.some((row, i) => row !== rows.children[i])) {
      rows.replaceChildren(...shown); // only where they change: a control in use keeps the focus
    }
    gamma.row.hidden = risk !== "quantile";
    const preference = wanted();
    const safe = gamma.value > 0 && gamma.value < 1;
    if (preference.problem || !safe) {
      showProblem(preference.problem || "γ must lie between 0 and 1");
    } else {
      const made = choose(posterior, preference, risk, gamma.value);
      showChoice(posterior, made, gamma.value, risk, name);
      showGain(posterior, informationOf(made.ranking));
    }
    showCommand(selector, preference.text, risk, gamma.value);
    if (chart) soon(chart);
  }

  const visit = () => {
    const asks = askedBy(location.hash);
    if (asks) ask(asks);
    answer();
    if (asks) byId("choose").scrollIntoView();
  };
  visit();
  addEventListener("hashchange", () => askedBy(location.hash) && visit());
  const shares = bestOverTime(posterior);
  const place = byId("selector-chart");
  chart = addChart(place, `${PAGE.words.p_best} over the budget`, (view) =>
    selectorChart(view, posterior, shares, wanted(), asked()),
  );
  place.addEventListener("click", (event) => {
    const axis = place._fullLayout?.xaxis;
    if (!axis || picked("kind") !== "at") return;
    const t = axis.p2d(event.clientX - place.getBoundingClientRect().left - axis._offset);
    if (t < first || t > last) return;
    controls.at[0].set(rounded(Number(t), first, last));
    changed();
  });
  globalThis.polarbear = { choose: (...question) => chosen(posterior, ...question) };
}

/** What scripts ask: the choice for a preference given by its name and numbers. */
function chosen(posterior, name, values, risk, gamma) {
  const preference = preferenceOn(posterior, name, values);
  if (preference.problem) return { problem: preference.problem };
  const { choice, notes, ranking } = choose(posterior, preference, risk, gamma);
  const rows = ranking.map(({ item, p2bb, mean, quantile, regret }) => ({
    algorithm: posterior.items[item],
    ...{ p2bb, mean, quantile, regret },
  }));
  return { choice, preference: preference.text, weights: preference.weights, ranking: rows, notes };
}
