"""Generated vehicle routing problems with capacities.

The generator follows the choices with which the set X of the CVRP library was made: where the depot
and the customers are, how demands are distributed, and how long routes are.
"""

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Kind, Range, Setting, Spec, Suite
from polarbear.problems.generated_files import generated_file
from polarbear.problems.specs import FAMILY

ENDING = ".vrp"
WIDTH = 1000  # of the square
N_SEEDS = (3, 8)  # of clusters, the fewest and the most
CLUSTER_RADIUS = 40.0  # the scale on which the density of a cluster decays
CUSTOMERS_PER_ROUTE = (3.0, 25.0)

Placement = Literal["random", "clustered", "mixed"]


class Cvrp(Suite):
    """Customers on a square, alone or in clusters; the length of all routes is minimised."""

    families: tuple[Placement, ...] = Field(
        ("random", "clustered", "mixed"),
        min_length=1,
        description="how customers lie, in turn; 'mixed' is half of each",
    )
    customers: Range = Field(
        Range.model_validate({"from": 100, "to": 500}), description="their number: {from, to}"
    )
    maximise: Literal[False] = Field(False, description="always false: lengths are minimised")

    kind: ClassVar[Kind] = Kind.ROUTING

    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Spec]:
        family = self.families[index % len(self.families)]
        n_customers = self.customers.draw(rng)
        seed = int(rng.integers(2**31))
        spec = {FAMILY: family, "customers": n_customers, "seed": seed}
        return f"{family}-n{n_customers}-{index}", spec

    def build(self, spec: Spec, setting: Setting) -> str:
        return generated_file(spec, ENDING, lambda: vrplib_text(spec))


def vrplib_text(spec: Spec) -> str:
    """The instance of a spec in VRPLIB's format."""
    rng = np.random.default_rng(spec["seed"])
    n_customers = int(spec["customers"])
    depot = _depot(rng)
    places = _places(rng, spec[FAMILY], n_customers)
    largest_demand = int(rng.choice([1, 10, 100]))
    demands = rng.integers(1, largest_demand, n_customers, endpoint=True)
    customers_per_route = rng.triangular(CUSTOMERS_PER_ROUTE[0], 6.0, CUSTOMERS_PER_ROUTE[1])
    capacity = max(int(demands.max()), round(customers_per_route * demands.mean()))
    lines = [
        f"NAME : {spec[FAMILY]}-{spec['seed']}",
        "TYPE : CVRP",
        f"DIMENSION : {n_customers + 1}",
        "EDGE_WEIGHT_TYPE : EUC_2D",
        f"CAPACITY : {capacity}",
        "NODE_COORD_SECTION",
        f"1 {depot[0]:.0f} {depot[1]:.0f}",
    ]
    lines += [f"{number} {x:.0f} {y:.0f}" for number, (x, y) in enumerate(places.tolist(), 2)]
    lines += ["DEMAND_SECTION", "1 0"]
    lines += [f"{number} {demand}" for number, demand in enumerate(demands.tolist(), 2)]
    return "\n".join([*lines, "DEPOT_SECTION", "1", "-1", "EOF", ""])


def _depot(rng: np.random.Generator) -> Floats:
    """The depot: in the middle, in a corner, or anywhere."""
    position = rng.choice(["middle", "corner", "anywhere"])
    if position == "middle":
        return np.array([WIDTH / 2, WIDTH / 2])
    if position == "corner":
        return np.zeros(2)
    return rng.integers(0, WIDTH, 2, endpoint=True).astype(float)


def _places(rng: np.random.Generator, family: str, n_customers: int) -> Floats:
    """The coordinates of the customers."""
    shares = {"random": 1.0, "mixed": 0.5, "clustered": 0.0}
    n_alone = round(shares[family] * n_customers)
    places = rng.integers(0, WIDTH, (n_alone, 2), endpoint=True).astype(float)
    n_seeds = int(rng.integers(*N_SEEDS, endpoint=True))
    seeds = rng.uniform(0.1 * WIDTH, 0.9 * WIDTH, (n_seeds, 2))
    while len(places) < n_customers:
        # The distance from a seed is exponential, in any direction.
        distance = rng.exponential(CLUSTER_RADIUS)
        angle = rng.uniform(0, 2 * np.pi)
        step = distance * np.array([np.cos(angle), np.sin(angle)])
        place = np.rint(seeds[rng.integers(n_seeds)] + step)
        if np.all((place >= 0) & (place <= WIDTH)):
            places = np.vstack([places, place])
    return places
