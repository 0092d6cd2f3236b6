import assert from "node:assert/strict";
import test from "node:test";

import { addressOf, askedBy } from "../../../polarbear/report/page/js/address.js";

test("what an address asks is what was asked when it was made", () => {
  for (const asked of [
    { name: "at", values: [5000], risk: "mean", gamma: NaN },
    { name: "between", values: [0, 3], risk: "p2bb", gamma: NaN },
    { name: "worst-case", values: [], risk: "quantile", gamma: 0.1 },
  ]) {
    assert.deepEqual(askedBy(addressOf(asked)), asked);
  }
});

test("an address that asks nothing, or what cannot be meant, harms nothing", () => {
  assert.equal(askedBy("#choose"), null);
  assert.deepEqual(askedBy("#ask=at+x%00y").values, []);
});
