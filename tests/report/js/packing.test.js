import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";

import { unpacked } from "../../../polarbear/report/page/js/packing.js";

const packed = (codes) => Buffer.from(Uint16Array.from(codes).buffer).toString("base64");

test("codes are shares, of which one half is exact, and the last is a missing value", () => {
  const values = Array.from(unpacked(packed([0, 32767, 65534, 65535])));
  assert.deepEqual(values, [0, 0.5, 1, NaN]);
});
