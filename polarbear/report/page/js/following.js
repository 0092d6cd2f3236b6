// A page of a race that goes on: it is rewritten after each round, and loads itself again.

import { byId } from "./dom.js";
import { PAGE } from "./page.js";

const EVERY = 10000; // milliseconds between two looks
const QUIET = 20000; // milliseconds for which a reader must have touched nothing
const ROUND = "PolarBear-Round"; // the header that says which round `polarbear watch` has to show

/** Reload the page regularly, unless it is in use or the reader has switched that off. */
export function startFollowing() {
  let touched = -Infinity;
  for (const kind of ["pointerdown", "keydown", "input", "wheel", "touchstart"]) {
    addEventListener(kind, () => (touched = performance.now()), { passive: true });
  }
  setInterval(async () => {
    const isQuiet = performance.now() - touched > QUIET;
    if (byId("follow").checked && isQuiet && !document.hidden && (await isOutdated())) {
      location.reload();
    }
  }, EVERY);
}

/** Whether there is another page to load; from disk this is unknown without loading it. */
async function isOutdated() {
  if (PAGE.served === null) return true;
  try {
    const answer = await fetch(location.href, { method: "HEAD" });
    return answer.ok && answer.headers.get(ROUND) !== PAGE.served;
  } catch {
    return false; // the server has ended: the open page stays readable
  }
}
