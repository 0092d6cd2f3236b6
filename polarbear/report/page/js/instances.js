// A closer look: the duels of a pair at a time, and the runs on one instance.

import { addChart, update } from "./charts.js";
import { numberControl } from "./controls.js";
import { byId, copy, element, labelled, nameElement } from "./dom.js";
import { duelsAt, sampleOf } from "./duels.js";
import { inflated } from "./packing.js";
import { PAGE, say } from "./page.js";
import { instanceChart } from "./trajectories.js";
import { apart, valueText } from "./wording.js";

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
  const nearest = () => {
    const gaps = PAGE.times.map((t) => Math.abs(t - time.value));
    return gaps.indexOf(Math.min(...gaps));
  };

  async function show() {
    const held = await whole();
    const [one, two, at] = [Number(a.value), Number(b.value), nearest()];
    const names = [one, two].map((i) => PAGE.algorithms[i]);
    if (one === two) {
      byId("duels-said").textContent = "A pair is two algorithms.";
      byId("duels").replaceChildren();
      return;
    }
    const duels = duelsAt(held, one, two, at);
    const wins = (who) => duels.filter((duel) => duel.winner === who).length;
    byId("duels-said").replaceChildren(
      nameElement(names[0]),
      " against ",
      nameElement(names[1]),
      ` at ${say.timed(PAGE.times[at])}, on ${say.counted(duels.length, "instance")} of this page: `,
      nameElement(names[0]),
      ` wins ${wins(one)}, `,
      nameElement(names[1]),
      ` wins ${wins(two)}, ${wins(null)} tied; ${closer.better}, and the winner's is in bold.`,
    );
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
    const [who, where] = [PAGE.algorithms[algorithm], sample.instances[instance]].map(quoted);
    byId("instance-command").textContent = `${closer.run} --on ${where} --repeat ${who}`;
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
  const names = pair.map((i) => sample.algorithms[i]);
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, "instance"),
    names.map((name) => element("th", { scope: "col", class: "number" }, nameElement(name))),
    element("th", { scope: "col", class: "wide-only" }, "winner"),
    element("th", { scope: "col", class: "number" }, "by"),
  );
  const rows = duels.map((duel) => {
    const name = sample.instances[duel.instance];
    const values = apart(duel.a, duel.b).map((text, i) =>
      duel.winner === pair[i] ? element("strong", {}, text) : text,
    );
    const open = element(
      "button",
      { type: "button", class: "link", onclick: () => choose(duel.instance) },
      element("bdi", {}, name),
    );
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, open),
      values.map((value) => element("td", { class: "number" }, value)),
      element(
        "td",
        { class: "wide-only" },
        duel.winner === null ? "tie" : labelled(sample.algorithms[duel.winner]),
      ),
      element("td", { class: "number" }, duel.margin === null ? "" : valueText(duel.margin)),
    );
  });
  return element("table", { "aria-label": "Duels" }, element("thead", {}, head), element("tbody", {}, rows));
}

function runTable(sample, instance, repeatBy) {
  const columns = ["algorithm", "best", "ended", "after", "seed"];
  const isNumber = (name) => ["best", "after", "seed"].includes(name);
  const head = columns.map((name) =>
    element("th", { scope: "col", class: isNumber(name) ? "number" : null }, name),
  );
  const rows = sample.algorithms.map((name, i) => {
    const run = sample.runs[instance][i];
    if (run === null) return null;
    const [status, reached, seed] = run;
    const known = sample.times.map((_, t) => sample.at(instance, i, t)).filter(Number.isFinite);
    return element(
      "tr",
      {},
      element(
        "th",
        { scope: "row" },
        element("button", { type: "button", class: "link", onclick: () => repeatBy(i) }, labelled(name)),
      ),
      element("td", { class: "number" }, valueText(known.at(-1))),
      element("td", {}, status),
      element("td", { class: "number" }, say.time(reached)),
      element("td", { class: "number" }, seed),
    );
  });
  return element(
    "table",
    { "aria-label": "Runs on the instance" },
    element("thead", {}, element("tr", {}, head)),
    element("tbody", {}, rows.filter(Boolean)),
  );
}
