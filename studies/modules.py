"""The effect of modcma's modules: MA-BBOB at full size, with one module after the other changed.

The paper's settings of CMA-ES are in `configs/mabbob.yaml`, which leaves starts to modcma 1.2.0:
the first in the middle of the box, others outside of it, too. Here

- ``fixed centre``: every start is at a uniform random point of the box;
- ``saturated``: points outside the box are moved to its border, not drawn again near it (COTN);
- ``restarts alike``: no larger population at a restart (IPOP).

Each is run on the same instances with the same seeds; the duels that decide the paper's Pareto set
are reported.

    python studies/modules.py --population STORE     a quarter of an hour of one core for each

STORE is what `python studies/mabbob.py` has made, or `polarbear run configs/mabbob.yaml --store`.
"""

from __future__ import annotations

import argparse
import copy
import sys
from pathlib import Path
from typing import Any

import common
import populations
import releases
import yaml

CONFIG = common.ROOT / "configs" / "mabbob.yaml"
AS_IT_IS = "as configured"
CHANGES: dict[str, dict[str, Any]] = {
    "fixed centre": {"centre": "fixed"},
    "saturated": {"modules": {"bound_correction": "SATURATE"}},
    "restarts alike": {"modules": {"restart_strategy": "RESTART"}},
}


def changed(config: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """The configuration with this changed in every CMA-ES."""
    new_config = copy.deepcopy(config)
    for algorithm in new_config["algorithms"]:
        if algorithm["use"] == "modcma":
            algorithm.update(change)
    return new_config


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--population", type=Path, required=True, help="a store; only read")
    parser.add_argument("--instances", type=int, default=100, help="to run each change on")
    parser.add_argument("--stores", type=Path, default=populations.FOLDER, help="where runs go")
    parser.add_argument("--workers", default="1", help="runs at once")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "modules")
    args = parser.parse_args()
    plain = yaml.safe_load(CONFIG.read_text())
    ways = [releases.read(f"{AS_IT_IS}={args.population}")]
    for name, change in CHANGES.items():
        store = args.stores / f"mabbob-{name.replace(' ', '-')}"
        config = store.with_suffix(".yaml")
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(yaml.safe_dump(changed(plain, change), sort_keys=False))
        populations.make(config, store, args.instances, "--workers", args.workers)
        ways.append(releases.read(f"{name}={store}"))
    text = releases.written(ways, args.out, "way", with_first=True)
    (args.out / "result.md").write_text(f"# Modules of modcma\n\n## Duels\n\n{text}\n")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
