// A page of a race that goes on: it is rewritten after each round, and loads itself again.

import { byId } from "./dom.js";

const EVERY = 10000; // milliseconds between two looks
const QUIET = 20000; // milliseconds for which a reader must have touched nothing

/** Load the page again now and then, unless its reader is busy with it or does not want it. */
export function startFollowing() {
  let touched = -Infinity;
  for (const kind of ["pointerdown", "keydown", "input", "wheel", "touchstart"]) {
    addEventListener(kind, () => (touched = performance.now()), { passive: true });
  }
  setInterval(() => {
    const isQuiet = performance.now() - touched > QUIET;
    if (byId("follow").checked && isQuiet && !document.hidden) location.reload();
  }, EVERY);
}
