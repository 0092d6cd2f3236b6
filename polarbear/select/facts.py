"""Choices as plain facts, for people, scripts and pipelines."""

from __future__ import annotations

from typing import Any

from polarbear.select import words
from polarbear.select.basis import Contest
from polarbear.select.information import ENOUGH, value_of_information
from polarbear.select.portfolios import Portfolios
from polarbear.select.selection import Selection
from polarbear.select.sweeps import Sweep

SHOWN_PORTFOLIOS = 5


def of_selection(made: Selection, contest: Contest) -> dict[str, Any]:
    """The choice and everything beside it."""
    basis, criteria, error = made.basis, made.criteria, made.p2bb_error()
    posterior = basis.posterior
    return {
        "choice": made.name(made.choice),
        "criterion": made.risk,
        "preference": made.preference.text,
        "preference_words": made.words,
        "statement": words.statement(made),
        "gamma": made.gamma,
        "ranking": [
            {
                "algorithm": made.name(item),
                "p2bb": float(criteria.p2bb[item]),
                "mean": float(criteria.mean[item]),
                "quantile": float(criteria.quantile[item]),
                "regret": float(criteria.regret[item]),
                "p2bb_error": float(error[item]),
                "competes": made.competes[item],
            }
            for item in made.order
        ],
        "disagreements": [
            {
                "criterion": found.criterion,
                "prefers": made.name(found.prefers),
                "cost": found.cost,
                "words": words.disagreement(made, found),
            }
            for found in made.disagreements()
        ],
        "candidates": [basis.algorithms[i] for i in contest.candidates],
        "left_out": [basis.algorithms[i] for i in contest.left_out],
        "left_out_because": contest.reason if contest.left_out else None,
        "posterior": {
            "key": basis.key,
            "from": basis.source,
            "model": posterior.model,
            "engine": posterior.engine,
            "method": posterior.method,
            "draws": posterior.n_draws,
            "instances": basis.instances,
            "passed": posterior.usable,
        },
        "notes": made.notes(),
    }


def of_portfolios(found: Portfolios, names: list[str]) -> dict[str, Any]:
    """The best portfolio, and the next ones."""
    rows = [
        {
            "portfolio": [names[i] for i in found.slots[row]],
            "p2bb": float(found.criteria.p2bb[row]),
            "mean": float(found.criteria.mean[row]),
            "quantile": float(found.criteria.quantile[row]),
            "regret": float(found.criteria.regret[row]),
        }
        for row in range(min(SHOWN_PORTFOLIOS, len(found.slots)))
    ]
    return {
        "portfolio": rows[0]["portfolio"],
        "portfolio_ranking": rows,
        "portfolios_possible": found.possible,
        "portfolios_looked_at": len(found.slots),
        "portfolio_search": "exhaustive" if found.exhaustive else "greedy, then local search",
    }


def of_information(made: Selection) -> dict[str, Any]:
    """What racing on could still gain."""
    found = value_of_information(made.values[:, list(made.candidates)], 0)
    return {
        "gain": found.gain,
        "share": found.share,
        "enough": ENOUGH,
        "words": words.information(made, found),
        "rivals": [
            {
                "algorithm": made.name(made.candidates[rival.item]),
                "p2bb": rival.p2bb,
                "gain": rival.gain,
            }
            for rival in found.rivals
        ],
    }


def of_sweep(swept: Sweep, names: list[str]) -> dict[str, Any]:
    """Where each candidate is the choice."""
    return {
        "over": swept.variations.name,
        "intervals": [
            {
                "from": one.start,
                "to": one.stop,
                "choice": names[one.choice],
                "p2bb": one.p2bb,
                "lowest_p2bb": one.lowest_p2bb,
                "highest_p2bb": one.highest_p2bb,
                "regret": one.regret,
            }
            for one in swept.intervals()
        ],
        "positions": swept.variations.positions.tolist(),
        "choices": [names[i] for i in swept.choices],
        "p2bb": {name: swept.p2bb[:, i].tolist() for i, name in enumerate(names)},
    }
