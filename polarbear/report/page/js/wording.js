// Numbers in words. What is said of which number comes with the page, from Python's `wording`;
// only the digits are made here, because a reader may ask for any number.

/** A number of digits after the point, without a minus before zero; ties go to the even digit. */
export function fixed(value, digits) {
  if (Math.abs(value) < 0.5 * 10 ** -digits) return (0).toFixed(digits);
  const isTie = (value * 2 ** (digits + 1)) % 2 === 1; // exact: only the exponent changes
  if (!isTie) return value.toFixed(digits);
  const up = Math.round(value * 10 ** digits);
  return ((up % 2 === 0 ? up : up - 1) / 10 ** digits).toFixed(digits);
}

/** A number of significant digits without trailing zeros, as Python's format g. */
export function significant(value, digits) {
  if (value === 0) return "0";
  const [front, power] = value.toExponential(digits - 1).split("e");
  const exponent = Number(power);
  const isShort = exponent >= -4 && exponent < digits;
  if (isShort) return String(Number(fixed(value, digits - 1 - exponent)));
  const sign = exponent < 0 ? "-" : "+";
  return `${Number(front)}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

const DIGITS = [4, 6, 8, 10, 12, 15]; // of a value that a run has reached

const NEARLY = 0.05; // of a distance, by which two rounded values may have another one
const WRITTEN_OUT = 1e7; // from here on, values are written with a power of ten

/** The value of a run, formatted as by `polarbear show`; a dash where there is none. */
export function valueText(value, digits = DIGITS[0]) {
  if (!Number.isFinite(value)) return "–";
  const text = significant(value, digits);
  return text.includes("e+") && Math.abs(value) < WRITTEN_OUT ? fixed(value, 0) : text;
}

/** Two values with enough digits to show their difference. */
export function apart(a, b) {
  const rounded = (value, digits) => Number(value.toPrecision(digits));
  const isSeen = (digits) => {
    if (a === b || !Number.isFinite(a) || !Number.isFinite(b)) return true;
    const gap = Math.abs(rounded(a, digits) - rounded(b, digits));
    return Math.abs(gap - Math.abs(a - b)) <= NEARLY * Math.abs(a - b);
  };
  const enough = DIGITS.find(isSeen) ?? DIGITS.at(-1);
  return [a, b].map((value) => valueText(value, enough));
}

/** A number as it can be typed, with all digits that matter: 5000, 0.25, 1e-7. */
export function typed(value, digits = 10) {
  return String(Number(value.toPrecision(digits)));
}

/** A sentence with its gaps, {like_this}, filled: texts and elements, in their order. */
export function pieces(sentence, values) {
  return sentence
    .split(/\{(\w+)\}/)
    .map((piece, i) => (i % 2 ? values[piece] : piece))
    .filter((piece) => piece !== "");
}

/** A sentence with its gaps filled by texts. */
export function filled(sentence, values) {
  return pieces(sentence, values).join("");
}

/** How numbers are said, by the limits and nouns that came with the page. */
export function wordingOf(words) {
  const bounded = (limits, value) => {
    if (value >= limits.high) return limits.over;
    if (value > 0 && value < limits.low) return limits.under;
    return `${fixed(value, limits.digits)}${limits.unit}`;
  };
  const noun = (forms, shown) => (shown === "1" ? forms.one : forms.many);
  const whole = (number) => Number(fixed(number, 0)).toLocaleString("en");
  const time = (value) =>
    value >= words.time.whole_from ? whole(value) : significant(value, words.time.digits);
  return {
    whole,
    time,
    timed: (value) => `${time(value)} ${noun(words.axis, time(value))}`,
    counted: (number, what) => `${whole(number)} ${noun(words.nouns[what], whole(number))}`,
    probability: (value) => bounded(words.probability, value),
    mark: (value) => {
      if (value >= words.probability.high) return words.mark.over;
      return value < words.probability.low ? words.mark.under : fixed(value, 2);
    },
    percent: (share) =>
      share === 1 ? `100${words.percent.unit}` : bounded(words.percent, 100 * share),
    small: (value) => {
      if (value === 0) return "0";
      return value < words.small.smallest ? words.small.less : significant(value, 2);
    },
  };
}
