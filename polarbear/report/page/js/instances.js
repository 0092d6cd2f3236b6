// A closer look: the duels of a pair at a time, and the runs on one instance.

import { addChart, update } from "./charts.js";
import { numberControl } from "./controls.js";
import { byId, copy, element, labelled, nameElement, tableOf } from "./dom.js";
import { duelsAt, sampleOf } from "./duels.js";
import { inflated } from "./packing.js";
import { PAGE, say } from "./page.js";
import { nearestIndex } from "./preferences.js";
import { instanceChart } from "./trajectories.js";
import { apart, pieces, valueText } from "./wording.js";

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
    (sample ??= sampleOf(closer, PAGE.algorithms, PAGE.times, await inflated(closer.values)));
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
