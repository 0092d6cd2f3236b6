"""What the page computes with: draws to choose by, and what was believed after each round."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np

from polarbear.inference.beliefs import Beliefs
from polarbear.preferences.budgets import LEAST_MASS, WORTH_A_NOTE
from polarbear.racing.verdicts import CHANCE, SIGNS, WORDS, WORDS_AT_A_TIME, Kind
from polarbear.report.figures.base import moment_of_draws
from polarbear.report.material import Material, Round
from polarbear.report.moment import draws_now, other_model, still_in
from polarbear.report.page.closer import closer
from polarbear.report.page.colours import AGAIN_AFTER
from polarbear.report.page.packing import packed
from polarbear.report.page.sentences import is_out, sentences
from polarbear.report.page.ticks import ticks
from polarbear.select import GAMMA
from polarbear.wording import counted, page_words, percent

# Shares that go with a page, two bytes each, a third more as base64: so many draws of them as fit,
# and at least a few hundred as long as a page can carry those.
DRAWN_NUMBERS = 75_000
LEAST_DRAWS, MOST_NUMBERS = 400, 560_000
NOUNS = ("draw", "instance", "run")  # that the page counts by itself


def of(material: Material) -> dict[str, Any]:
    """Everything but the figures."""
    return {
        "name": material.store.path.resolve().name,
        "algorithms": list(material.algorithms),
        "labels": {name: label for name, label in material.labels.items() if label != name},
        "out": [name for name in material.algorithms if name not in still_in(material)],
        "times": material.times.tolist(),
        "axis": material.axis,
        "words": page_words(material.axis, NOUNS),
        "log_times": material.log_times,
        "ticks": ticks(float(material.times[0]), float(material.times[-1])),
        "alpha": material.rules.alpha,
        "colours": AGAIN_AFTER,
        "verdicts": {kind: {"sign": SIGNS[kind], "words": WORDS[kind]} for kind in Kind},
        "chance": CHANCE[bool(material.believed and material.believed.joint)],
        "at_a_time": dict(WORDS_AT_A_TIME),
        "selector": selector(material),
        "closer": closer(material),
        "moments": moments(material),
    }


def selector(material: Material) -> dict[str, Any] | None:
    """Draws of the candidates, evenly thinned to what a page can carry."""
    basis, contest = draws_now(material), material.contest
    if basis is None or contest is None or not contest.candidates:
        return None
    posterior = basis.posterior
    theta = posterior.theta[:, :, list(contest.candidates)]
    asked = f" --model {posterior.model}" if basis.source == "infer" else ""
    kept = thinned(posterior.n_draws, theta.shape[1] * theta.shape[2])
    return {
        "items": [basis.algorithms[i] for i in contest.candidates],
        "times": basis.times.tolist(),
        "draws": len(kept),
        "of_draws": posterior.n_draws,
        "effective": min(float(len(kept)), basis.effective_draws),
        "joint": posterior.joint,
        "gamma": GAMMA,
        "command": f"polarbear select {shlex.quote(str(material.store.path))}{asked}",
        "sentences": sentences(basis),
        "limits": {"least_mass": LEAST_MASS, "worth_a_note": WORTH_A_NOTE},
        "theta": packed(theta[kept].transpose(2, 1, 0)),
    }


def thinned(draws: int, numbers_a_draw: int) -> np.ndarray:
    """Which draws go with the page: all where they fit, otherwise at even distances."""
    least = min(LEAST_DRAWS, MOST_NUMBERS // numbers_a_draw)
    fit = max(1, min(draws, max(least, DRAWN_NUMBERS // numbers_a_draw)))
    return np.arange(fit) * draws // fit


def moments(material: Material) -> list[dict[str, Any]]:
    """What was believed after each round; without a race, what is believed now."""
    if material.rounds:
        rounds = [_after(found, material) for found in material.rounds]
        return [*rounds, *_by_other_model(material, rounds[-1]["out"])]
    if material.believed is None:
        return []
    title = f"What the {material.basis.posterior.model} model says" if material.basis else ""
    return [
        {
            "number": 0,
            "title": title,
            "facts": "",
            "out": [],
            **_ratings(material.believed, material),
        }
    ]


def _by_other_model(material: Material, out: list[dict[str, str]]) -> list[dict[str, Any]]:
    """The same by the model that choices rest on, where that is not the race's."""
    model, believed = other_model(material), material.believed_by_basis
    if model is None or believed is None:
        return []
    own = material.rounds[-1].record.inference["model"]
    whole = "" if material.basis and material.basis.counts_those_in else ", among all algorithms"
    facts = f"{moment_of_draws(material)}{whole}; rounds are by the race's own model, {own}."
    return [
        {
            "number": 0,
            "title": f"What the {model} model says",
            "facts": facts[0].upper() + facts[1:],
            "out": out,
            **_ratings(believed, material),
        }
    ]


def _after(found: Round, material: Material) -> dict[str, Any]:
    state, record = found.state, found.record
    facts = (
        f"{counted(state.instances, 'instance')} so far, {record.drawn} of them in this round; "
        f"{len(state.candidates)} of {len(state.algorithms)} algorithms still in, "
        f"{percent(state.share_settled)} of pairs settled."
    )
    return {
        "number": found.number,
        "title": f"Round {found.number}",
        "facts": facts,
        "out": [is_out(gone, found.number, record.joint) for gone in state.eliminated],
        **_ratings(found.believed, material),
    }


def _ratings(believed: Beliefs, material: Material) -> dict[str, Any]:
    """What was believed then; times only where the store's grid was another one."""
    same = np.array_equal(believed.times, material.times)
    return {
        "algorithms": list(believed.algorithms),
        "times": None if same else believed.times.tolist(),
        "mean": packed(believed.mean),
        "low": packed(believed.low),
        "high": packed(believed.high),
    }
