import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";

import { unpacked } from "../../../polarbear/report/page/js/packing.js";

const packed = (codes, top) => ({
  top,
  codes: Buffer.from(Uint16Array.from(codes).buffer).toString("base64"),
});

test("codes are roots of shares of the highest value", () => {
  const values = unpacked(packed([0, 32767, 65534], 0.5));
  assert.deepEqual(Array.from(values), [0, 0.125, 0.5]);
});

test("the code after the highest stands for a missing value", () => {
  assert.ok(Number.isNaN(unpacked(packed([65535], 1))[0]));
});
