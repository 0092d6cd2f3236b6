// Elements of the page. Names from the store reach it as text only, never as markup.

/** An element with attributes, listeners (onclick: ...) and children; strings become text. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null));
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

/** A name whose letters may run in another direction than the text around it. */
function nameElement(name) {
  return element(
    "bdi",
    { class: name.length > 14 ? "name" : "name short", title: name.length > 40 ? name : null },
    name,
  );
}

/** A coloured mark of an algorithm beside its name. */
function labelled(name) {
  return element("span", { class: "labelled" }, swatch(name), nameElement(name));
}

function swatch(name) {
  const place = PAGE.algorithms.indexOf(name);
  const turn = Math.floor(place / PAGE.colours); // colours come again, marks then look different
  return element("span", {
    class: `swatch turn-${Math.min(turn, 2)}`,
    style: `--colour: var(--algorithm-${place})`,
    "aria-hidden": "true",
  });
}

/** Reads as well where colours cannot be told apart: names cut in the middle, for charts. */
function shortened(name, length = 22) {
  const letters = Array.from(name.replace(/\s+/g, " "));
  if (letters.length <= length) return letters.join("");
  const half = Math.floor((length - 1) / 2);
  return `${letters.slice(0, half).join("")}…${letters.slice(-half).join("")}`;
}

/** A name for a chart: Plotly would read tags and entities in it, and mix directions. */
function plain(name, length = 22) {
  const safe = shortened(name, length)
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;");
  return `\u2068${safe}\u2069`;
}

/** A sentence about a pair, with its names put in; a new line after each half. */
function ofPair(words, row) {
  return words.replace(/([;:]) /g, "$1<br>").replace(/\{([ab])\}/g, (_, who) => plain(row[who]));
}

const AXIS = plain(PAGE.axis);

/** Hand a text to the reader as a file, without asking anybody for it. */
function download(name, text, type = "text/csv") {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** Copy a text; where the browser does not allow it, select it for the reader to copy. */
async function copy(source, button) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(source);
    button.textContent = "Selected";
  }
  setTimeout(() => (button.textContent = "Copy"), 1500);
}
