// A closer look: the duels of a pair at a time, and the runs on one instance.

import { timeAxis, timeLabel } from "./axes.js";
import { addChart, update } from "./charts.js";
import { numberControl } from "./controls.js";
import { byId, copy, element, labelled, nameElement, tableOf } from "./dom.js";
import { duelsAt, sampleOf } from "./duels.js";
import { endLabels, labelOf, labelRoom, lineOf, titled } from "./marks.js";
import { inflated } from "./packing.js";
import { PAGE, say } from "./page.js";
import { nearestIndex } from "./preferences.js";
import { apart, pieces, significant, valueText } from "./wording.js";

const LOG_FROM = 100; // values that span this factor, none negative, are drawn on a log scale

/** A name as a shell takes it. */
function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'"'"'`)}'`;
}

/** Controls and tables; gives what a chart calls when its reader clicks on a pair and a time. */
export function startCloser(closer) {
  let sample = null;
  let instance = null;
  let opener = null; // what was pressed to see it
  let chart = null; // there is nothing to draw before an instance is chosen
  const whole = async () =>
    (sample ??= sampleOf(
      closer,
      PAGE.algorithms,
      PAGE.times,
      await inflated(closer.values),
      closer.positions ? await inflated(closer.positions) : null,
    ));
  const choice = (id, label, place) => {
    const options = PAGE.algorithms.map((name, i) =>
      element("option", { value: i, selected: i === place }, PAGE.labels[name] ?? name),
    );
    const select = element("select", { id, onchange: () => show() }, options);
    return [element("div", {}, element("label", { for: id }, label), select), select];
  };
  const inside = PAGE.algorithms.map((_, i) => i).filter((i) => !PAGE.out.includes(PAGE.algorithms[i]));
  const [first, second] = [...new Set([...inside, ...PAGE.algorithms.keys()])];
  const [rowA, a] = choice("pair-a", "One", first);
  const [rowB, b] = choice("pair-b", "against", second);
  const time = numberControl(
    "pair-at",
    `at, in ${PAGE.axis}`,
    { low: PAGE.times[0], high: PAGE.times.at(-1), value: PAGE.times.at(-1), stops: PAGE.times },
    () => show(),
  );
  byId("closer-controls").append(rowA, rowB, time.row);

  async function show() {
    const held = await whole();
    const [one, two, at] = [Number(a.value), Number(b.value), nearestIndex(PAGE.times, time.value)];
    const names = [one, two].map((i) => PAGE.algorithms[i]);
    if (one === two) {
      byId("duels-said").textContent = "A pair is two algorithms.";
      byId("duels").replaceChildren();
      return;
    }
    const duels = duelsAt(held, one, two, at);
    const wins = (winner) => duels.filter((duel) => duel.winner === winner).length;
    const where = `at ${say.timed(PAGE.times[at])}, on ${say.counted(duels.length, "instance")} of this page`;
    const sentence =
      `{a} against {b} ${where}: {a2} wins ${wins(one)}, {b2} wins ${wins(two)}, ${wins(null)} tied; ` +
      `${closer.better}, and the winner's is in bold.`;
    const [a1, b1, a2, b2] = [...names, ...names].map(nameElement);
    byId("duels-said").replaceChildren(...pieces(sentence, { a: a1, b: b1, a2, b2 }));
    byId("duels").replaceChildren(duelTable(held, duels, [one, two], choose));
    byId("duels").dataset.shown = `${one} ${two} ${at}`;
  }

  function choose(chosen) {
    instance = chosen;
    opener = document.activeElement;
    const name = sample.instances[chosen];
    byId("instance").hidden = false;
    byId("instance-title").textContent = name;
    byId("instance-runs").replaceChildren(runTable(sample, chosen, repeatBy));
    byId("instance-show").textContent = `${closer.show} --instance ${quoted(name)}`;
    repeatBy(sample.runs[chosen].findIndex((run) => run !== null));
    if (chart) update(chart);
    chart ??= addChart(
      byId("instance-chart"),
      "Best value so far of every algorithm on the instance",
      (view) => instanceChart(view, sample, instance),
    );
    byId("instance-title").focus();
  }

  /** Put the instance away, and go on where it was asked for. */
  function leave() {
    byId("instance").hidden = true;
    (opener?.isConnected ? opener : byId("duels")).focus();
  }

  /** The command that makes a run on the instance again. */
  function repeatBy(algorithm) {
    const [name, where] = [PAGE.algorithms[algorithm], sample.instances[instance]].map(quoted);
    byId("instance-command").textContent = `${closer.run} --on ${where} --repeat ${name}`;
  }

  byId("instance").addEventListener("keydown", (event) => {
    if (event.key === "Escape") leave();
  });
  byId("instance-close").addEventListener("click", leave);
  byId("instance-copy").addEventListener("click", (event) =>
    copy(byId("instance-command"), event.target),
  );
  show();
  return (one, two, t) => {
    a.value = PAGE.algorithms.indexOf(one);
    b.value = PAGE.algorithms.indexOf(two);
    time.set(t);
    show().then(() => byId("closer").scrollIntoView());
  };
}

function duelTable(sample, duels, pair, choose) {
  const names = pair.map((i) => [nameElement(sample.algorithms[i]), true]);
  const columns = [["instance"], ...names, ["winner", false, "wide-only"], ["by", true]];
  const rows = duels.map((duel) => {
    const open = { type: "button", class: "link", onclick: () => choose(duel.instance) };
    const values = apart(duel.a, duel.b).map((text, i) =>
      duel.winner === pair[i] ? element("strong", {}, text) : text,
    );
    return [
      element("button", open, element("bdi", {}, sample.instances[duel.instance])),
      ...values,
      duel.winner === null ? "tie" : labelled(sample.algorithms[duel.winner]),
      duel.margin === null ? "" : valueText(duel.margin),
    ];
  });
  return tableOf("Duels", columns, rows);
}

function runTable(sample, instance, repeatBy) {
  const columns = [["algorithm"], ["best", true], ["ended"], ["after", true], ["seed", true]];
  const rows = sample.algorithms.map((name, i) => {
    const run = sample.runs[instance][i];
    if (run === null) return null;
    const [status, reached, seed] = run;
    const known = sample.times.map((_, t) => sample.at(instance, i, t)).filter(Number.isFinite);
    const repeat = { type: "button", class: "link", onclick: () => repeatBy(i) };
    return [element("button", repeat, labelled(name)), valueText(known.at(-1)), status, say.time(reached), seed];
  });
  return tableOf("Runs on the instance", columns, rows.filter(Boolean));
}

/** The best value so far of every algorithm on an instance, at the times of the grid. */
function instanceChart(view, sample, instance) {
  const runs = sample.algorithms
    .map((name, i) => {
      const points = sample.times
        .map((t, k) => ({ t, y: sample.at(instance, i, k) }))
        .filter(({ y }) => Number.isFinite(y));
      return { name, points };
    })
    .filter(({ name, points }) => points.length && view.shows(name));
  const values = runs.flatMap(({ points }) => points.map(({ y }) => y));
  const least = Math.min(...values.filter((y) => y > 0));
  const high = Math.max(...values);
  const hasZero = values.includes(0);
  const isLog = Math.min(...values) >= 0 && high > LOG_FROM * least;
  const floor = hasZero ? least / 10 : least; // where zero stands on a log scale
  const low = isLog ? floor : Math.min(...values);
  const onAxis = isLog ? (y) => Math.log10(Math.max(y, floor)) : (y) => y;
  const pad = 0.04 * (onAxis(high) - onAxis(low)) || 0.5;
  const range = [onAxis(low) - pad, onAxis(high) + pad];
  const zero = isLog && hasZero ? ` (0 at ${significant(floor, 2)})` : "";
  const title = `best value so far${zero}`;
  const traces = runs.map(({ name, points }) => {
    const told = points.map(({ t, y }) => [labelOf(name), timeLabel(t), String(Number(y.toPrecision(6)))]);
    const y = points.map((point) => (isLog ? Math.max(point.y, floor) : point.y));
    const mode = sample.times.length > 60 ? "lines" : "lines+markers";
    const line = { color: view.of(name), dash: view.dash(name), width: 2, shape: "hv" };
    const more = { mode, line, marker: { color: view.of(name), size: 4 } };
    const hover = "%{customdata[0]}<br>%{customdata[1]}<br>%{customdata[2]}";
    return lineOf(view, name, points.map(({ t }) => t), y, 2, told, hover, more);
  });
  const ends = runs.map(({ name, points }) => ({ name, y: onAxis(points.at(-1).y) }));
  return {
    traces,
    layout: {
      height: view.narrow ? 300 : 360,
      margin: { l: 64, r: labelRoom(view, runs.map(({ name }) => name)), t: 12, b: 48 },
      xaxis: timeAxis(PAGE.log_times),
      yaxis: { title: titled(title), type: isLog ? "log" : "linear", range, zeroline: false },
      annotations: endLabels(view, ends, ...range, view.narrow ? 240 : 300),
    },
  };
}
