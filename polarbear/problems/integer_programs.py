"""Generated mixed-integer programs: set cover, facility location, combinatorial auctions.

All variables are binary and all numbers whole, so that every solver of integer programs can take
them, and all are minimised.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from polarbear.problems.base import Kind, Setting, Spec, Suite
from polarbear.problems.generated_files import generated_file
from polarbear.problems.specs import FAMILY

ENDING = ".mps"
# Of set covers.
DENSITY = 0.05  # the share of elements that a set contains
MOST_COST = 100
# Of facility locations.
CUSTOMERS_PER_FACILITY = 2
CAPACITY_PER_DEMAND = 5.0  # of all facilities together
# Of auctions.
BIDS_PER_ITEM = 5
CONTINUE_PROBABILITY = 0.8  # that a bidder wants one more item
UNITS_OF_PRICE = 10  # in which prices are whole

MipFamily = Literal["set-cover", "facility-location", "auction"]


class Mip(Suite):
    """Set covers, facility locations and combinatorial auctions, in turn."""

    families: tuple[MipFamily, ...] = Field(
        ("set-cover", "facility-location", "auction"),
        min_length=1,
        description="the kinds of programs, used in turn",
    )
    scale: float = Field(
        1.0,
        gt=0,
        le=4,
        description="how large they are; 0.3 suits budgets of seconds",
    )
    maximise: Literal[False] = Field(False, description="always false: auctions are negative")

    kind: ClassVar[Kind] = Kind.MIP

    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Spec]:
        family = self.families[index % len(self.families)]
        relative_size = self.scale * float(rng.uniform(0.8, 1.25))
        n_first = max(2, round(USUAL_SIZE[family] * relative_size))
        spec = {FAMILY: family, "n": n_first, "seed": int(rng.integers(2**31))}
        return f"{family}-{index}", spec

    def build(self, spec: Spec, setting: Setting) -> str:
        def text() -> str:
            rng = np.random.default_rng(spec["seed"])
            return GENERATORS[spec[FAMILY]](rng, spec["n"]).mps(spec[FAMILY])

        return generated_file(spec, ENDING, text)


@dataclass
class BinaryProgram:
    """A program in binary variables, by rows and columns."""

    rows: list[str] = field(default_factory=list)  # "G", "L" or "E"
    right_sides: list[int] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)
    columns: list[list[tuple[int, int]]] = field(default_factory=list)  # (row, coefficient)

    def add_row(self, sense: str, right_side: int) -> int:
        """Add a row, and return its number."""
        self.rows.append(sense)
        self.right_sides.append(right_side)
        return len(self.rows) - 1

    def add_column(self, cost: int, entries: list[tuple[int, int]]) -> None:
        """Add a variable with its cost and its coefficients in rows."""
        self.costs.append(cost)
        self.columns.append(entries)

    def mps(self, name: str) -> str:
        """The program in MPS, in the columns of the fixed format, which free readers take, too."""
        lines = [f"NAME          {name}", "ROWS", " N  cost"]
        lines += [f" {sense}  r{row}" for row, sense in enumerate(self.rows)]
        lines += ["COLUMNS", _marker("INTORG")]
        for number, (cost, entries) in enumerate(zip(self.costs, self.columns, strict=True)):
            lines.append(_entry(f"x{number}", "cost", cost))
            lines += [_entry(f"x{number}", f"r{row}", coefficient) for row, coefficient in entries]
        lines += [_marker("INTEND"), "RHS"]
        lines += [
            _entry("rhs", f"r{row}", side) for row, side in enumerate(self.right_sides) if side
        ]
        lines.append("BOUNDS")
        lines += [f" BV bound     x{number}" for number in range(len(self.columns))]
        return "\n".join([*lines, "ENDATA", ""])


def _entry(first_name: str, second_name: str, number: int) -> str:
    return f"    {first_name:<8}  {second_name:<8}  {number:>12}"


def _marker(kind: str) -> str:
    """A line around columns whose variables are whole numbers."""
    return f"    MARKER                 'MARKER'                 '{kind}'"


def set_cover(rng: np.random.Generator, n_elements: int) -> BinaryProgram:
    """Every element is in a chosen set; the sets have costs from 1 to 100."""
    n_sets = 2 * n_elements
    contains = rng.random((n_elements, n_sets)) < DENSITY
    for element in np.flatnonzero(contains.sum(axis=1) < 2):
        contains[element, rng.choice(n_sets, 2, replace=False)] = True
    program = BinaryProgram()
    for _ in range(n_elements):
        program.add_row("G", 1)
    costs = rng.integers(1, MOST_COST, n_sets, endpoint=True)
    for number, cost in enumerate(costs.tolist()):
        elements = np.flatnonzero(contains[:, number]).tolist()
        program.add_column(cost, [(element, 1) for element in elements])
    return program


def facility_location(rng: np.random.Generator, n_customers: int) -> BinaryProgram:
    """Every customer is served by one open facility; facilities have capacities."""
    n_facilities = max(2, n_customers // CUSTOMERS_PER_FACILITY)
    customers = rng.random((n_customers, 2))
    facilities = rng.random((n_facilities, 2))
    demands = rng.integers(5, 35, n_customers, endpoint=True)
    capacities = rng.integers(10, 160, n_facilities, endpoint=True)
    opening_costs = rng.integers(100, 110, n_facilities, endpoint=True) * np.sqrt(capacities)
    opening_costs += rng.integers(0, 90, n_facilities, endpoint=True)
    # A factor that no opening cost has: only capacities grow with the number of customers.
    capacities = np.ceil(capacities * CAPACITY_PER_DEMAND * demands.sum() / capacities.sum())
    distances = np.linalg.norm(customers[:, None] - facilities[None], axis=2)
    service_costs = np.rint(10 * demands[:, None] * distances)

    program = BinaryProgram()
    is_served = [program.add_row("E", 1) for _ in range(n_customers)]
    for facility in range(n_facilities):
        capacity = program.add_row("L", 0)
        needs_opening = [program.add_row("L", 0) for _ in range(n_customers)]
        opening = [(row, -1) for row in needs_opening]
        opening.append((capacity, -int(capacities[facility])))
        program.add_column(int(opening_costs[facility]), opening)
        for customer in range(n_customers):
            entries = [
                (is_served[customer], 1),
                (capacity, int(demands[customer])),
                (needs_opening[customer], 1),
            ]
            program.add_column(int(service_costs[customer, facility]), entries)
    return program


def auction(rng: np.random.Generator, n_items: int) -> BinaryProgram:
    """Every item is sold at most once; a bid is for a bundle of items that suit each other."""
    usual_values = rng.uniform(1, 100, n_items)
    suitability = np.triu(rng.random((n_items, n_items)), 1)
    suitability += suitability.T
    program = BinaryProgram()
    for _ in range(n_items):
        program.add_row("L", 1)
    for _ in range(BIDS_PER_ITEM * n_items):
        # A bidder's values differ from the usual ones by up to 50.
        values = np.maximum(usual_values + rng.uniform(-50, 50, n_items), 0.1)
        bundle = [int(rng.choice(n_items, p=values / values.sum()))]
        while len(bundle) < n_items and rng.random() < CONTINUE_PROBABILITY:
            weights = suitability[bundle].mean(axis=0) * values
            weights[bundle] = 0.0
            bundle.append(int(rng.choice(n_items, p=weights / weights.sum())))
        price = values[bundle].sum() + len(bundle) ** 1.2
        program.add_column(-round(UNITS_OF_PRICE * price), [(item, 1) for item in sorted(bundle)])
    return program


GENERATORS: Mapping[str, Callable[[np.random.Generator, int], BinaryProgram]] = {
    "set-cover": set_cover,
    "facility-location": facility_location,
    "auction": auction,
}
# The number of elements, customers or items.
USUAL_SIZE: Mapping[str, int] = {"set-cover": 600, "facility-location": 100, "auction": 600}
