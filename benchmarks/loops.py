"""What a set costs in the likelihood's loops, beside what its arithmetic alone would.

    python benchmarks/loops.py [--ghz 2.8]

Nanoseconds of processor time for each set and evaluation, the least of some; with the clock's rate,
cycles as well. The floor is a loop over as many numbers in a row that does nothing but what a set
cannot do without: an addition for its sum, a division for its rate, a multiplication for the
logarithm of the product, and two additions on the way back. Nobody has to wait for another there,
and nothing is looked up.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from inference import positions

from polarbear.inference.models.dirichlet import one_coefficient_a_time
from polarbear.inference.native.independent.mode import find_mode
from polarbear.inference.native.independent.sampling import TIMES_A_PART, TimeChains
from polarbear.inference.native.set_sums import set_sums, with_prior
from polarbear.numerics.compiling import kernel
from polarbear.rankings import count_choice_sets
from polarbear.rankings.wide import count_wide

TRANSITIONS, TURNS = 200, 7


@kernel
def floor(one, two, counts, rates, back, repetitions):
    total = 0.0
    for _ in range(repetitions):
        product = 1.0
        for s in range(len(one)):
            both = one[s] + two[s]
            product *= both
            rates[s] = counts[s] / both
        for s in range(len(one)):
            back[s] += rates[s]
            one[s] += 1e-300 * rates[s]
        total += product
    return total


def least(call: Callable[[], object]) -> float:
    """Seconds of processor time, the least of some after a first."""
    call()
    taken = []
    for _ in range(TURNS):
        begun = time.process_time()
        call()
        taken.append(time.process_time() - begun)
    return min(taken)


def evaluation(n: int, instances: int, steps: int, wide: bool) -> tuple[int, float]:
    """Sets at a time, and nanoseconds for each in an evaluation, all that belongs to a transition
    included."""
    n_times = 1 if wide else TIMES_A_PART
    places = positions(n, instances, n_times)
    counted = count_wide(places, np.ones(instances), 0) if wide else count_choice_sets(places)
    sets = set_sums(counted)
    mode = find_mode(sets, one_coefficient_a_time(n_times, 1.0))
    theta, times = np.empty((1, n_times, n)), slice(0, n_times)
    chains = TimeChains(with_prior(sets, 1.0), times, mode, np.random.default_rng(1), theta)
    chains.steps = steps
    seconds = least(lambda: chains.advance(slice(0, 1), TRANSITIONS))
    size = len(counted.counts)
    return size // n_times, 1e9 * seconds / TRANSITIONS / steps / size


def arithmetic(size: int) -> float:
    arrays = np.random.default_rng(0).uniform(0.4, 0.6, (5, size))
    repetitions = max(1, 2_000_000 // size)
    return 1e9 * least(lambda: floor(*arrays, repetitions)) / repetitions / size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ghz", type=float, help="the clock's rate, for cycles")
    ghz = parser.parse_args().ghz
    print("| sets | ns a set | floor | ratio | cycles a set, floor |\n|---|---|---|---|---|")
    for what, n, instances, steps, wide in (
        ("n 7, P 1,000, one step", 7, 1000, 1, False),
        ("n 7, P 1,000, four steps", 7, 1000, 4, False),
        ("n 40, P 60, four steps", 40, 60, 4, True),
        ("n 200, P 200, four steps", 200, 200, 4, True),
    ):
        size, found = evaluation(n, instances, steps, wide)
        least_possible = arithmetic(size)
        cycles = f"{found * ghz:.1f}, {least_possible * ghz:.1f}" if ghz else "-"
        print(
            f"| {size:,}: {what} | {found:.2f} | {least_possible:.2f} | "
            f"{found / least_possible:.1f} | {cycles} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
