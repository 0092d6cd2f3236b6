// Controls: sliders with a box for the exact number, and radio buttons.

import { bestOnLog } from "./axes.js";
import { element } from "./dom.js";
import { say } from "./page.js";
import { nearestIndex } from "./preferences.js";
import { typed } from "./wording.js";

/** Rounded as a slider moves, but never off its ends. */
export function rounded(value, low, high) {
  return Math.min(Math.max(Number(value.toPrecision(3)), low), high);
}

/** A slider with a box for the exact number beside it. */
export function numberControl(id, label, { low, high, log, value, stops }, changed) {
  const steps = stops ? stops.length - 1 : 400;
  const isLog = log && low > 0;
  const toValue = (place) => {
    if (stops) return stops[place];
    const share = place / steps;
    return rounded(isLog ? low * (high / low) ** share : low + (high - low) * share, low, high);
  };
  const toPlace = (number) => {
    if (stops) return nearestIndex(stops, number);
    const share = isLog
      ? Math.log(number / low) / Math.log(high / low)
      : (number - low) / (high - low);
    return Math.round(steps * Math.min(Math.max(share, 0), 1)) || 0;
  };
  const exact = { type: "number", step: "any", inputmode: "decimal", "aria-label": `${label}, exactly` };
  const box = element("input", { id: `${id}-box`, ...exact });
  const slider = element("input", { type: "range", id, min: 0, max: Math.max(steps, 0), step: 1 });
  const move = (number) => {
    control.value = number;
    slider.value = toPlace(number);
    slider.setAttribute("aria-valuetext", say.time(number));
  };
  const control = {
    value,
    set(number) {
      move(number);
      box.value = typed(number);
    },
    row: element("div", { class: "control" }, element("label", { for: id }, label), slider, box),
  };
  slider.addEventListener("input", () => {
    control.set(toValue(Number(slider.value)));
    changed(control);
  });
  box.addEventListener("input", () => {
    const number = box.valueAsNumber;
    if (!Number.isFinite(number)) return;
    move(number);
    changed(control);
  });
  control.set(value);
  return control;
}

/** The controls of every kind of preference, by its name. */
export function preferenceControls({ times, joint }, changed) {
  const [low, high] = [times[0], times.at(-1)];
  const log = bestOnLog(times);
  const span = high - low || Math.abs(high) || 1;
  const at = (share) =>
    rounded(log && low > 0 ? low * (high / low) ** share : low + span * share, low, high);
  const time = { low, high, log };
  const control = (id, label, value, options = time, then = changed) =>
    numberControl(id, label, { ...options, value }, then);
  const stops = joint ? null : times;
  const budget = joint ? at(0.6) : times[nearestIndex(times, at(0.6))];
  const ordering = (moved) => {
    const [from, to] = range;
    if (from.value > to.value) (moved === from ? to : from).set(moved.value);
    changed();
  };
  const range = [
    control("range-from", "From", at(0.35), time, ordering),
    control("range-to", "To", at(0.85), time, ordering),
  ];
  const width = { low: span / 500, high: span, log: true };
  const factor = { low: 0.05, high: 3, log: true };
  return {
    at: [control("budget", "Budget", budget, { ...time, stops })],
    between: range,
    normal: [
      control("normal-mean", "Mean", at(0.6)),
      control("normal-sd", "Standard deviation", Number((span / 8).toPrecision(2)), width),
    ],
    lognormal: [
      control("lognormal-median", "Median", at(0.6)),
      control("lognormal-sigma", "Standard deviation of the logarithm", 0.7, factor),
    ],
    triangular: [
      control("triangular-from", "Shortest", at(0.25)),
      control("triangular-mode", "Most likely", at(0.6)),
      control("triangular-to", "Longest", at(0.95)),
    ],
    exponential: [control("exponential-mean", "Mean", at(0.6))],
  };
}

export function radios(name, legend, options, changed) {
  const inputs = Object.entries(options).map(([value, [label, title]], i) =>
    element(
      "label",
      { title },
      element("input", { type: "radio", name, value, checked: i === 0, onchange: changed }),
      element("span", {}, label),
    ),
  );
  return element("fieldset", { class: "choices" }, element("legend", {}, legend), ...inputs);
}

export function pick(name, value) {
  document.querySelector(`input[name="${name}"][value="${value}"]`).checked = true;
}

export function picked(name) {
  return document.querySelector(`input[name="${name}"]:checked`).value;
}
