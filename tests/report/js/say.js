// Says numbers that Python sends, to be compared with what Python says of them.

import "./page.js";
import { readFileSync } from "node:fs";

const { say } = await import("../../../polarbear/report/page/js/page.js");

const asked = JSON.parse(readFileSync(0, "utf8"));
const answers = asked.map(([how, ...values]) => say[how](...values));
console.log(JSON.stringify(answers));
