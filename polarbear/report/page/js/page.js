// What came with the page, and how it says numbers.

import { wordingOf } from "./wording.js";

export const PAGE = JSON.parse(document.getElementById("page-data").textContent);
export const say = wordingOf(PAGE.words);
