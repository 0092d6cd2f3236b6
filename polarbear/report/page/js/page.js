// The data of the page, and its wording of numbers.

import { wordingOf } from "./wording.js";

export const PAGE = JSON.parse(document.getElementById("page-data").textContent);
export const say = wordingOf(PAGE.words);
