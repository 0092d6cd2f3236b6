"""Nested Laplace: a lattice of hyperparameter settings, each with its Laplace approximation.

The lattice follows the principal axes of the hyperparameters' posterior, one standard deviation
apart by default. It grows from the mode for as long as new nodes have weight.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from polarbear.errors import InferenceError
from polarbear.inference.models.base import Model
from polarbear.inference.plackett_luce.laplace import Mode, find_mode
from polarbear.inference.plackett_luce.likelihood import Likelihood
from polarbear.numerics.threads import ALL_THREADS, Threads, in_threads

MAX_NODES = 400
_DIFFERENCE = 0.05  # step of finite differences in log-hyperparameters
_MAX_STEP = 0.7


class TooWideError(InferenceError):
    """The hyperparameters' posterior is too wide for a lattice."""


@dataclass(frozen=True)
class Lattice:
    """Hyperparameter settings log_hyper[J, H] with their Laplace approximations and weights.

    ``edge[J]`` marks nodes with a neighbour that was left out.
    """

    log_hyper: np.ndarray
    modes: tuple[Mode, ...]
    weights: np.ndarray
    edge: np.ndarray

    def missed(self, visited: np.ndarray) -> float:
        """By how much draws prefer the lattice's edge over its weights.

        A large value means that the posterior extends beyond the lattice.
        """
        share = np.bincount(visited, minlength=len(self.weights)) / len(visited)
        return float(np.maximum(share - self.weights, 0)[self.edge].sum())


class _Marginal:
    """The hyperparameters' approximate log-posterior; starts searches from the last mode."""

    def __init__(self, model: Model, likelihood: Likelihood) -> None:
        self.model, self.likelihood = model, likelihood
        self.last: Mode | None = None

    def mode(self, log_hyper: np.ndarray, start: Mode | None = None) -> Mode:
        latent = self.model.latent(log_hyper)
        if start is None or start.latent.n_coefficients != latent.n_coefficients:
            return find_mode(self.likelihood, latent)
        # a greater amplitude leaves functions nearly unchanged, so coefficients shrink
        scale = np.linalg.norm(start.latent.weights) / np.linalg.norm(latent.weights)
        return find_mode(self.likelihood, latent, scale * start.x)

    def __call__(self, log_hyper: np.ndarray) -> float:
        self.last = self.mode(log_hyper, self.last)
        return self.weigh(self.last, log_hyper)

    def weigh(self, mode: Mode, log_hyper: np.ndarray) -> float:
        """The log-weight of a node."""
        return mode.log_marginal + self.model.log_hyperprior(log_hyper)


def explore(
    model: Model,
    likelihood: Likelihood,
    spacing: float = 1.0,
    min_weight: float = 1e-4,
    threads: Threads = ALL_THREADS,
) -> Lattice:
    """Build the lattice, without nodes lighter than ``min_weight`` times the heaviest.

    That limit is for two hyperparameters; a single one is followed further. A model without
    hyperparameters has one node.
    """
    marginal = _Marginal(model, likelihood)
    if not model.hyperparameters:
        only = marginal.mode(np.empty(0))
        return Lattice(np.zeros((1, 0)), (only,), np.ones(1), np.zeros(1, dtype=bool))
    centre, axes = _mode_and_axes(marginal, model.starting_points())
    lightest = np.log(min_weight) * 2 / len(model.hyperparameters)
    if not model.temporal:
        lightest *= 2  # Laplace's method weighs small kappa far too low
    return _grow(marginal, centre, spacing * axes, lightest, threads)


def most_probable(
    model: Model, likelihood: Likelihood, start: np.ndarray | None = None
) -> tuple[np.ndarray, Mode]:
    """The most probable setting of the log-hyperparameters, with its Laplace approximation."""
    marginal = _Marginal(model, likelihood)
    starts = model.starting_points() if start is None else start[None]
    centre = _mode_and_axes(marginal, starts)[0] if model.hyperparameters else np.empty(0)
    return centre, marginal.mode(centre, marginal.last)


def _mode_and_axes(
    marginal: Callable[[np.ndarray], float], starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Newton's method by finite differences; columns of the axes are standard deviations."""
    h = max(starts, key=marginal)
    for _ in range(30):
        slope, hessian = _differences(marginal, h)
        scale, directions = np.linalg.eigh(-hessian)
        scale = np.maximum(scale, 1.0)  # as narrow as a prior of unit width where it is flat
        step = directions @ ((directions.T @ slope) / scale)
        h = h + np.clip(step, -_MAX_STEP, _MAX_STEP)
        if np.abs(step).max() < 0.1:
            break
    return h, directions / np.sqrt(scale)


def _differences(
    marginal: Callable[[np.ndarray], float], h: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Hessian by central differences."""
    size = len(h)
    unit = _DIFFERENCE * np.eye(size)
    centre = marginal(h)
    ahead = np.array([marginal(h + e) for e in unit])
    behind = np.array([marginal(h - e) for e in unit])
    hessian = np.diag((ahead - 2 * centre + behind) / _DIFFERENCE**2)
    for i, j in itertools.combinations(range(size), 2):
        both = marginal(h + unit[i] + unit[j]) + marginal(h - unit[i] - unit[j]) - 2 * centre
        mixed = both / _DIFFERENCE**2 - hessian[i, i] - hessian[j, j]
        hessian[i, j] = hessian[j, i] = mixed / 2
    return (ahead - behind) / (2 * _DIFFERENCE), hessian


Place = tuple[int, ...]  # of a node on the lattice, in steps from its centre


def _grow(
    marginal: _Marginal, centre: np.ndarray, axes: np.ndarray, lightest: float, threads: Threads
) -> Lattice:
    """From the centre to neighbour after neighbour, while they have weight."""

    def approximate(found: tuple[Place, Mode | None]) -> tuple[Mode, float]:
        place, neighbour = found
        h = centre + axes @ np.array(place)
        mode = marginal.mode(h, neighbour)
        return mode, marginal.weigh(mode, h)

    origin: Place = (0,) * len(centre)
    nodes = {origin: approximate((origin, marginal.last))}
    seen, edge = {origin}, [origin]
    while edge:
        beyond = {there: nodes[here][0] for here in edge for there in _neighbours(here)}
        beyond = {place: mode for place, mode in beyond.items() if place not in seen}
        seen |= beyond.keys()
        found = zip(beyond, in_threads(approximate, beyond.items(), threads), strict=True)
        least = max(weight for _, weight in nodes.values()) + lightest
        new = {place: node for place, node in found if node[1] > least}
        nodes |= new
        edge = list(new)
        if len(nodes) > MAX_NODES:
            raise TooWideError(
                f"the hyperparameters {', '.join(marginal.model.hyperparameters)} of "
                f"{marginal.model.name} are spread so widely that {MAX_NODES} settings do not "
                "cover them (narrower priors would help)"
            )
    heaviest = max(weight for _, weight in nodes.values())
    places = sorted(place for place, (_, weight) in nodes.items() if weight > heaviest + lightest)
    modes, log_weights = zip(*(nodes[place] for place in places), strict=True)
    weights = np.exp(np.array(log_weights) - heaviest)
    ends = [any(neighbour not in places for neighbour in _neighbours(p)) for p in places]
    log_hyper = np.array([centre + axes @ np.array(p) for p in places])
    return Lattice(log_hyper, modes, weights / weights.sum(), np.array(ends))


def _neighbours(place: Place) -> list[Place]:
    axes = itertools.product(range(len(place)), (-1, 1))
    return [(*place[:axis], place[axis] + by, *place[axis + 1 :]) for axis, by in axes]
