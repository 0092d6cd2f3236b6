"""The classical view of a population: ECDF, AOCC and EAF, as the paper's second study has them.

Targets lie between 1e2 and 1e-8 above the optimum, all orders of magnitude counting the same; the
AOCC is the mean over time of the share of them that were reached, time being linear. Values are
those at the times of the grid.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from common import Row, markdown, write_csv
from populations import Population

EASIEST = 2.0  # power of ten
HARDEST = -8.0  # power of ten
RESAMPLES = 1000
TARGETS = 10.0 ** np.linspace(EASIEST, HARDEST, 41)
PAIRS = (  # whose attainment the paper draws against each other
    ("CSA", "TPA"),
    ("LPXNES", "MXNES"),
    ("MXNES", "RS"),
    ("CSA", "MXNES"),
    ("MSR", "XNES"),
    ("CSA", "XNES"),
)


def shares(values: np.ndarray) -> np.ndarray:
    """The share of targets that each value reaches, values being distances from the optimum."""
    with np.errstate(divide="ignore"):
        exponent = np.log10(np.maximum(values, 0.0))
    return np.asarray(np.clip((EASIEST - exponent) / (EASIEST - HARDEST), 0.0, 1.0))


def areas(values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """AOCC of each run: [instance, algorithm]; a value holds until the next time."""
    return np.asarray(shares(values)[:, :, :-1] @ np.diff(times) / (times[-1] - times[0]))


def attained(values: np.ndarray) -> np.ndarray:
    """The EAF at the targets: share of instances on which they are reached [algorithm, time, z]."""
    return np.asarray((values[:, :, :, None] <= TARGETS).mean(axis=0))


def differences(people: Population) -> list[Row]:
    """The share of times and targets at which one of a pair attains more, and the largest gap."""
    eaf = attained(people.values)
    rows = []
    for first_name, second_name in PAIRS:
        gap = eaf[people.names.index(first_name)] - eaf[people.names.index(second_name)]
        first = np.unravel_index(gap.argmax(), gap.shape)
        second = np.unravel_index(gap.argmin(), gap.shape)
        rows.append(
            {
                "pair": f"{first_name} - {second_name}",
                "first ahead": float((gap > 0).mean()),
                "second ahead": float((gap < 0).mean()),
                "first at most by": max(float(gap.max()), 0.0),
                "at t": float(people.times[first[0]]),
                "second at most by": max(float(-gap.min()), 0.0),
                "at t, too": float(people.times[second[0]]),
            }
        )
    return rows


def table(people: Population) -> list[Row]:
    """Mean AOCC with a bootstrap interval over instances, and the distribution over runs."""
    run_areas = areas(people.values, people.times)
    drawn = np.random.default_rng(1).integers(len(run_areas), size=(RESAMPLES, len(run_areas)))
    means = run_areas[drawn].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    best = np.bincount(means.argmax(axis=1), minlength=len(people.names)) / RESAMPLES
    rows = [
        {
            "algorithm": name,
            "mean AOCC": float(run_areas[:, i].mean()),
            "low": float(low[i]),
            "high": float(high[i]),
            "first in resamples": float(best[i]),
            "below 0.2": float((run_areas[:, i] < 0.2).mean()),
            "0.2 to 0.6": float(((run_areas[:, i] >= 0.2) & (run_areas[:, i] < 0.6)).mean()),
            "above 0.6": float((run_areas[:, i] >= 0.6).mean()),
        }
        for i, name in enumerate(people.names)
    ]
    return sorted(rows, key=lambda row: -row["mean AOCC"])


def leaders(people: Population) -> list[tuple[str, float, float]]:
    """Spans of times with the algorithm whose ECDF is highest there: name, first, last time."""
    highest = shares(people.values).mean(axis=0).argmax(axis=0)
    ends = [*np.flatnonzero(np.diff(highest)).tolist(), len(highest) - 1]
    begins = [0] + [end + 1 for end in ends[:-1]]
    return [
        (people.names[highest[a]], float(people.times[a]), float(people.times[b]))
        for a, b in zip(begins, ends, strict=True)
    ]


def written(people: Population, folder: Path) -> str:
    ecdf = shares(people.values).mean(axis=0)
    write_csv(
        folder / "ecdf.csv",
        [
            {"t": float(t)} | {name: float(ecdf[i, k]) for i, name in enumerate(people.names)}
            for k, t in enumerate(people.times)
            if k % 4 == 0 or k == len(people.times) - 1
        ],
    )
    rows = table(people)
    write_csv(folder / "aocc.csv", rows)
    led = ", ".join(f"{name} from {a:,.0f} to {b:,.0f}" for name, a, b in leaders(people))
    apart = differences(people)
    write_csv(folder / "eaf.csv", apart)
    return (
        f"Highest mean ECDF: {led}.\n\n{markdown(rows)}\n\nDifferences of attainment (EAF): on "
        "which share of times and targets one is ahead, and by how much at most.\n\n"
        f"{markdown(apart)}"
    )
