import assert from "node:assert/strict";
import test from "node:test";

import "./page.js";
import { apart, withAlpha } from "../../../polarbear/report/page/js/marks.js";

test("labels are moved apart, no further than their bounds", () => {
  const places = apart([0.5, 0.5, 0.51], 0.1, 0, 1);
  places.slice(1).forEach((place, i) => assert.ok(place - places[i] > 0.0999));
  assert.deepEqual(apart([0.2, 0.8], 0.1, 0, 1), [0.2, 0.8]);
  assert.ok(apart([1, 1], 0.1, 0, 1)[1] <= 1);
});

test("a colour can be seen through", () => {
  assert.equal(withAlpha("#ff8000", 0.5), "rgba(255,128,0,0.5)");
});
