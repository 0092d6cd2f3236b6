// A page for modules that read what came with theirs: pytest hands over what Python makes of it.

import process from "node:process";

if (!process.env.POLARBEAR_PAGE) {
  throw new Error("run these tests by pytest tests/report/test_page_scripts.py");
}
globalThis.document = {
  getElementById: () => ({ textContent: process.env.POLARBEAR_PAGE }),
};
