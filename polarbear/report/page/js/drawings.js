// The drawings of figures, by the names of the figures.

import { allocation } from "./drawings/allocation.js";
import { eaf, eafDifference } from "./drawings/attainment.js";
import { aocc, ecdf } from "./drawings/curves.js";
import { rounds } from "./drawings/evolution.js";
import { matrix } from "./drawings/matrix.js";
import { pairs } from "./drawings/pairs.js";
import { diagnostics, failures } from "./drawings/trust.js";
import { values } from "./drawings/values.js";

export const DRAWINGS = {
  allocation,
  aocc,
  diagnostics,
  eaf,
  "eaf-difference": eafDifference,
  ecdf,
  failures,
  matrix,
  pairs,
  rounds,
  values,
};
