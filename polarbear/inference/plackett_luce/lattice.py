"""Nested Laplace: a lattice of hyperparameter settings, each with its Laplace approximation.

The lattice follows the principal axes of the hyperparameters' posterior, one standard deviation
apart by default. It grows from the mode for as long as new nodes have weight.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

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
        """The share of draws at the lattice's edge in excess of the weights there.

        A large value means that the posterior extends beyond the lattice.
        """
        share = np.bincount(visited, minlength=len(self.weights)) / len(visited)
        return float(np.maximum(share - self.weights, 0)[self.edge].sum())


class _Marginal:
    """The hyperparameters' approximate log-posterior; starts searches from the last mode."""

    def __init__(self, model: Model, likelihood: Likelihood) -> None:
        self.model = model
        self.likelihood = likelihood
        self.last: Mode | None = None

    def mode(self, log_hyper: np.ndarray, start: Mode | None = None) -> Mode:
        latent = self.model.latent(log_hyper)
        if start is None or start.latent.n_coefficients != latent.n_coefficients:
            return find_mode(self.likelihood, latent)
        # A greater amplitude leaves functions nearly unchanged, so coefficients shrink.
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
        mode = marginal.mode(np.empty(0))
        return Lattice(np.zeros((1, 0)), (mode,), np.ones(1), np.zeros(1, dtype=bool))
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


Position = tuple[int, ...]  # the position of a node on the lattice, in steps from its centre


def _grow(
    marginal: _Marginal, centre: np.ndarray, axes: np.ndarray, lightest: float, threads: Threads
) -> Lattice:
    """A lattice that grows from the centre to neighbours, for as long as these have weight."""

    def approximate(candidate: tuple[Position, Mode | None]) -> _Node:
        position, neighbour_mode = candidate
        log_hyper = centre + axes @ np.array(position)
        mode = marginal.mode(log_hyper, neighbour_mode)
        return _Node(mode, marginal.weigh(mode, log_hyper))

    origin: Position = (0,) * len(centre)
    nodes = {origin: approximate((origin, marginal.last))}
    tried = {origin}
    front = [origin]
    while front:
        candidates = _untried_neighbours(front, nodes, tried)
        tried |= candidates.keys()
        approximated = in_threads(approximate, candidates.items(), threads)
        least = max(node.log_weight for node in nodes.values()) + lightest
        new_nodes = {
            position: node
            for position, node in zip(candidates, approximated, strict=True)
            if node.log_weight > least
        }
        nodes |= new_nodes
        front = list(new_nodes)
        if len(nodes) > MAX_NODES:
            raise TooWideError(
                f"the hyperparameters {', '.join(marginal.model.hyperparameters)} of "
                f"{marginal.model.name} are spread so widely that {MAX_NODES} settings do not "
                "cover them (narrower priors would help)"
            )
    return _lattice_of(nodes, centre, axes, lightest)


class _Node(NamedTuple):
    """The Laplace approximation at a node, and the logarithm of the node's weight."""

    mode: Mode
    log_weight: float


def _untried_neighbours(
    front: Sequence[Position], nodes: Mapping[Position, _Node], tried: Set[Position]
) -> dict[Position, Mode]:
    """The neighbours of the front's nodes that were not tried, each with the mode to start from."""
    candidates = {}
    for position in front:
        for neighbour in _neighbours(position):
            if neighbour not in tried:
                candidates[neighbour] = nodes[position].mode
    return candidates


def _lattice_of(
    nodes: Mapping[Position, _Node], centre: np.ndarray, axes: np.ndarray, lightest: float
) -> Lattice:
    """The lattice of those nodes that are heavy enough."""
    heaviest = max(node.log_weight for node in nodes.values())
    positions = sorted(
        position for position, node in nodes.items() if node.log_weight > heaviest + lightest
    )
    log_weights = np.array([nodes[position].log_weight for position in positions])
    weights = np.exp(log_weights - heaviest)
    return Lattice(
        log_hyper=np.array([centre + axes @ np.array(position) for position in positions]),
        modes=tuple(nodes[position].mode for position in positions),
        weights=weights / weights.sum(),
        edge=np.array(
            [
                any(neighbour not in positions for neighbour in _neighbours(position))
                for position in positions
            ]
        ),
    )


def _neighbours(position: Position) -> list[Position]:
    """The two neighbours of a node along each axis."""
    neighbours = []
    for axis in range(len(position)):
        for step in (-1, 1):
            neighbours.append((*position[:axis], position[axis] + step, *position[axis + 1 :]))
    return neighbours
