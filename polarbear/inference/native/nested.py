"""Nested Laplace: a lattice of hyperparameter settings, each with its Laplace approximation.

The lattice follows the axes of the hyperparameters' own posterior, one standard deviation apart
unless told otherwise, and grows from its mode for as long as there is weight to be found.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from polarbear.errors import InferenceError
from polarbear.inference.loops.likelihood import SetSums
from polarbear.inference.models import Model
from polarbear.inference.native.independent import mode as independent
from polarbear.inference.native.temporal import mode as temporal
from polarbear.numerics.threads import in_threads, single_threaded_blas

MOST_NODES = 400
FEW_SETS = 5000  # at all times: of so few, modes are found sooner than threads agree on who does
_DIFFERENCE = 0.05  # step of finite differences in log-hyperparameters
_LONGEST_STEP = 0.7


class TooWideError(InferenceError):
    """The lattice would not end."""


@dataclass(frozen=True)
class Lattice:
    """Hyperparameter settings log_hyper[J, H] with their Laplace approximations and weights.

    ``modes`` are a `Mode` each, of temporal or of independent models.
    ``edge[J]`` marks nodes with a neighbour that was left out.
    """

    log_hyper: np.ndarray
    modes: tuple[Any, ...]
    weights: np.ndarray
    edge: np.ndarray

    def missed(self, visited: np.ndarray) -> float:
        """By how much draws prefer the lattice's edge over what its weights promised.

        Much of it means that the posterior goes on where the lattice ends.
        """
        share = np.bincount(visited, minlength=len(self.weights)) / len(visited)
        return float(np.maximum(share - self.weights, 0)[self.edge].sum())


class _Marginal:
    """The hyperparameters' approximate log-posterior; remembers the last mode as a start."""

    def __init__(self, model: Model, sets: SetSums) -> None:
        self.model, self.sets = model, sets
        self.last: Any = None

    def mode(self, log_hyper: np.ndarray, start: Any = None) -> Any:
        latent = self.model.latent(log_hyper)
        same_basis = start is not None and start.latent.n_coefficients == latent.n_coefficients
        room = temporal if self.model.temporal else independent
        return room.find_mode(self.sets, latent, start.x if same_basis else None)

    def __call__(self, log_hyper: np.ndarray) -> float:
        self.last = self.mode(log_hyper, self.last)
        return self.weigh(self.last, log_hyper)

    def weigh(self, mode: Any, log_hyper: np.ndarray) -> float:
        """The log-weight of a node."""
        return float(mode.log_marginal) + self.model.log_hyperprior(log_hyper)


def explore(
    model: Model,
    sets: SetSums,
    spacing: float = 1.0,
    pruned: float = 1e-4,
    threads: int | None = None,
) -> Lattice:
    """Lay the lattice, without nodes lighter than ``pruned`` times the heaviest.

    That is for two hyperparameters; one alone can be followed further for the same work, and is.
    A model without hyperparameters has one node.
    """
    marginal = _Marginal(model, sets)
    if not model.hyperparameters:
        only = marginal.mode(np.empty(0))
        return Lattice(np.zeros((1, 0)), (only,), np.ones(1), np.zeros(1, dtype=bool))
    centre, axes = _mode_and_axes(marginal, model.starting_points())
    lightest = np.log(pruned) * 2 / len(model.hyperparameters)
    return _grow(marginal, centre, spacing * axes, lightest, threads)


def most_probable(
    model: Model, sets: SetSums, start: np.ndarray | None = None
) -> tuple[np.ndarray, Any]:
    """The most probable setting of the log-hyperparameters, with its Laplace approximation."""
    marginal = _Marginal(model, sets)
    starts = model.starting_points() if start is None else start[None]
    centre = _mode_and_axes(marginal, starts)[0] if model.hyperparameters else np.empty(0)
    return centre, marginal.mode(centre, marginal.last)


def _mode_and_axes(
    marginal: Callable[[np.ndarray], float], starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Newton's method by finite differences; columns of the axes are standard deviations."""
    h = max(starts, key=marginal)
    for _ in range(30):
        slope, bend = _differences(marginal, h)
        scale, directions = np.linalg.eigh(-bend)
        scale = np.maximum(scale, 1.0)  # as narrow as a prior of unit width where it is flat
        step = directions @ ((directions.T @ slope) / scale)
        h = h + np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
        if np.abs(step).max() < 0.1:
            break
    return h, directions / np.sqrt(scale)


def _differences(
    marginal: Callable[[np.ndarray], float], h: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    size = len(h)
    unit = _DIFFERENCE * np.eye(size)
    centre = marginal(h)
    ahead = np.array([marginal(h + e) for e in unit])
    behind = np.array([marginal(h - e) for e in unit])
    bend = np.diag((ahead - 2 * centre + behind) / _DIFFERENCE**2)
    for i, j in itertools.combinations(range(size), 2):
        both = marginal(h + unit[i] + unit[j]) + marginal(h - unit[i] - unit[j]) - 2 * centre
        mixed = both / _DIFFERENCE**2 - bend[i, i] - bend[j, j]
        bend[i, j] = bend[j, i] = mixed / 2
    return (ahead - behind) / (2 * _DIFFERENCE), bend


def _grow(
    marginal: _Marginal, centre: np.ndarray, axes: np.ndarray, lightest: float, threads: int | None
) -> Lattice:
    """From the centre to neighbour after neighbour, while they have weight."""
    origin = (0,) * len(centre)
    modes: dict[tuple[int, ...], Any] = {origin: marginal.mode(centre, marginal.last)}
    log_weights = {origin: marginal.weigh(modes[origin], centre)}

    def run(found: tuple[tuple[int, ...], Any]) -> tuple[Any, float]:
        place, neighbour = found
        h = centre + axes @ np.array(place)
        mode = marginal.mode(h, neighbour)
        return mode, marginal.weigh(mode, h)

    many = len(marginal.sets.counts) > FEW_SETS
    seen, edge = {origin}, [origin]
    while edge:
        beyond: dict[tuple[int, ...], Any] = {}
        for place in edge:
            for axis, by in itertools.product(range(len(centre)), (-1, 1)):
                next_place = _neighbour(place, axis, by)
                if next_place not in seen:
                    beyond.setdefault(next_place, modes[place])
        seen |= beyond.keys()
        ring = []
        with single_threaded_blas():
            found = in_threads(run, beyond.items(), threads if many else 1)
        for place, (mode, weight) in zip(beyond, found, strict=True):
            if weight > max(log_weights.values()) + lightest:
                modes[place], log_weights[place] = mode, weight
                ring.append(place)
        edge = ring
        if len(modes) > MOST_NODES:
            raise TooWideError(
                f"the hyperparameters {', '.join(marginal.model.hyperparameters)} of "
                f"{marginal.model.name} are spread so widely that {MOST_NODES} settings do not "
                "cover them (narrower priors would help)"
            )
    heaviest = max(log_weights.values())
    places = sorted(p for p in modes if log_weights[p] > heaviest + lightest)
    weights = np.exp([log_weights[p] - heaviest for p in places])
    log_hyper = np.array([centre + axes @ np.array(p) for p in places])
    kept = tuple(modes[p] for p in places)
    steps = list(itertools.product(range(len(centre)), (-1, 1)))
    ends = [any(_neighbour(p, *step) not in places for step in steps) for p in places]
    return Lattice(log_hyper, kept, weights / weights.sum(), np.array(ends))


def _neighbour(place: tuple[int, ...], axis: int, by: int) -> tuple[int, ...]:
    return (*place[:axis], place[axis] + by, *place[axis + 1 :])
