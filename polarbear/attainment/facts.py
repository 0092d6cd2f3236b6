"""The classical view as plain facts, for people, scripts and pipelines."""

from __future__ import annotations

from typing import Any

import numpy as np

from polarbear.attainment.disagreement import Note, agreement, disagreements
from polarbear.attainment.eaf import Lead
from polarbear.attainment.view import View
from polarbear.numerics.arrays import Floats
from polarbear.select import Basis

SHOWN_TIMES = 5


def of_view(view: View) -> dict[str, Any]:
    """AOCC and ECDF of every algorithm, on what they rest, and what to know about them."""
    found, log, at = view.aocc, view.aocc_log, shown_times(view)
    places = np.searchsorted(view.times, at)
    return {
        "axis": view.axis,
        "instances": len(view.common.instances),
        "instances_in_store": view.common.total,
        "instances_run_in_full": view.common.full,
        "more_in_common": [
            {"without": list(step.without), "instances": step.instances}
            for step in view.common.steps
        ],
        "left_out": list(view.common.left),
        "scale": {
            "words": view.scale.words,
            "log": view.scale.log,
            "targets": _targets(view),
        },
        "bootstrap": view.options.bootstrap,
        "seed": view.options.seed,
        "aocc": [
            {
                "algorithm": view.algorithms[a],
                "mean": float(found.mean[a]),
                "low": _number(found.low[a]),
                "high": _number(found.high[a]),
                "median": float(found.median[a]),
                "first": float(found.first[a]),
                "log_time": {
                    "mean": float(log.mean[a]),
                    "low": _number(log.low[a]),
                    "high": _number(log.high[a]),
                    "median": float(log.median[a]),
                    "first": float(log.first[a]),
                },
            }
            for a in found.order()
        ],
        "ecdf": [
            {
                "algorithm": view.algorithms[a],
                "at": [
                    {
                        "t": float(t),
                        "share": float(view.ecdf.mean[a, k]),
                        "low": _number(view.ecdf.low[a, k]),
                        "high": _number(view.ecdf.high[a, k]),
                    }
                    for t, k in zip(at, places, strict=True)
                ],
            }
            for a in found.order()
        ],
        "notes": view.notes(),
    }


def of_pair(view: View, a: str, b: str) -> dict[str, Any]:
    """Where in the plane of times and targets each of a pair is ahead."""
    found = view.eaf_difference(a, b)
    return {
        "a": a,
        "b": b,
        "instances": len(view.common.instances),
        "a_ahead": _lead(view, found.leads[0]),
        "b_ahead": _lead(view, found.leads[1]),
        "words": [
            lead_words(view, name, other, lead)
            for name, other, lead in ((a, b, found.leads[0]), (b, a, found.leads[1]))
        ],
    }


def of_disagreement(view: View, basis: Basis) -> dict[str, Any]:
    """What the posterior sees differently, or that it does not."""
    notes = disagreements(view, basis)
    return {
        "disagreements": [_note(note) for note in notes],
        "verdict": agreement(view, basis) if not notes else None,
    }


def shown_times(view: View) -> Floats:
    """A few times of the grid, both ends among them."""
    count = min(SHOWN_TIMES, len(view.grid))
    places = np.unique(np.linspace(0, len(view.grid) - 1, count).round().astype(int))
    return np.asarray(view.grid[places])


def lead_words(view: View, name: str, other: str, lead: Lead | None) -> str:
    """One sentence on where one of a pair is ahead of the other."""
    if lead is None:
        return f"{name} is nowhere ahead of {other}"
    where = (
        f"target {view.scale.target(lead.level):.2g}"
        if view.scale.everywhere_the_same
        else f"progress {lead.level:.2f}"
    )
    return (
        f"{name} is ahead of {other} on {lead.share_of_plane:.0%} of the plane of times and "
        f"targets, by the most at {lead.time:.4g} {view.axis} and {where}: attained by "
        f"{lead.own:.0%} of its runs against {lead.other:.0%}"
    )


def _lead(view: View, lead: Lead | None) -> dict[str, Any] | None:
    if lead is None:
        return None
    same = view.scale.everywhere_the_same
    return {
        "share_of_plane": lead.share_of_plane,
        "most": lead.most,
        "t": lead.time,
        "progress": lead.level,
        "target": view.scale.target(lead.level) if same else None,
    }


def _targets(view: View) -> dict[str, Any] | None:
    if not view.scale.everywhere_the_same:
        return None
    return {
        "easiest": float(view.scale.easiest[0]),
        "hardest": float(view.scale.hardest[0]),
        "count": view.scale.count,
    }


def _note(note: Note) -> dict[str, str]:
    return {
        "about": note.about,
        "classical_prefers": note.a,
        "posterior_prefers": note.b,
        "words": note.words,
        "why": note.why,
    }


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
