// What a reader drags and picks: sliders with a box for the exact number, and radio buttons.

import { bestOnLog } from "./axes.js";
import { element } from "./dom.js";
import { say } from "./page.js";
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
    if (stops) {
      const gaps = stops.map((stop) => Math.abs(stop - number));
      return gaps.indexOf(Math.min(...gaps));
    }
    const share = isLog
      ? Math.log(number / low) / Math.log(high / low)
      : (number - low) / (high - low);
    return Math.round(steps * Math.min(Math.max(share, 0), 1)) || 0;
  };
  const box = element("input", {
    type: "number",
    id: `${id}-box`,
    step: "any",
    inputmode: "decimal",
    "aria-label": `${label}, exactly`,
  });
  const slider = element("input", { type: "range", id, min: 0, max: Math.max(steps, 0), step: 1 });
  const control = {
    value,
    set(number) {
      control.value = number;
      box.value = typed(number);
      slider.value = toPlace(number);
      slider.setAttribute("aria-valuetext", say.time(number));
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
    control.value = number;
    slider.value = toPlace(number);
    slider.setAttribute("aria-valuetext", say.time(number));
    changed(control);
  });
  control.set(value);
  return control;
}

/** The controls of every kind of preference; read() gives its name and numbers. */
export function preferenceControls(grid, changed) {
  const { times, joint } = grid;
  const [low, high] = [times[0], times[times.length - 1]];
  const log = bestOnLog(times);
  const span = high - low || Math.abs(high) || 1;
  const between = (share) =>
    rounded(log && low > 0 ? low * (high / low) ** share : low + span * share, low, high);
  const time = { low, high, log };
  const nearest = (t) => times.reduce((a, b) => (Math.abs(b - t) < Math.abs(a - t) ? b : a));
  const at = [
    numberControl(
      "budget",
      "Budget",
      { ...time, value: joint ? between(0.6) : nearest(between(0.6)), stops: joint ? null : times },
      changed,
    ),
  ];
  const range = [];
  const ordering = (moved) => {
    const other = range.find((control) => control !== moved);
    if (range[0].value > range[1].value) other.set(moved.value);
    changed();
  };
  range.push(numberControl("range-from", "From", { ...time, value: between(0.35) }, ordering));
  range.push(numberControl("range-to", "To", { ...time, value: between(0.85) }, ordering));
  const width = (value) => ({
    low: span / 500,
    high: span,
    log: true,
    value: Number(value.toPrecision(2)),
  });
  const parameters = {
    normal: [
      numberControl("normal-mean", "Mean", { ...time, value: between(0.6) }, changed),
      numberControl("normal-sd", "Standard deviation", width(span / 8), changed),
    ],
    lognormal: [
      numberControl("lognormal-median", "Median", { ...time, value: between(0.6) }, changed),
      numberControl(
        "lognormal-sigma",
        "Standard deviation of the logarithm",
        { low: 0.05, high: 3, log: true, value: 0.7 },
        changed,
      ),
    ],
    triangular: [
      numberControl("triangular-from", "Shortest", { ...time, value: between(0.25) }, changed),
      numberControl("triangular-mode", "Most likely", { ...time, value: between(0.6) }, changed),
      numberControl("triangular-to", "Longest", { ...time, value: between(0.95) }, changed),
    ],
    exponential: [
      numberControl("exponential-mean", "Mean", { ...time, value: between(0.6) }, changed),
    ],
  };
  return { at, between: range, ...parameters };
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
