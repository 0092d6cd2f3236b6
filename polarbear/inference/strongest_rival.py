"""Values and P(best) by duels: the win rate of an algorithm against its strongest rival.

For a preference u and candidates C the value of a in a draw is V_a = min over b in C, b != a, of
u(p_ab(t_1), ..., p_ab(t_T)), where p_ab(t) is the probability that a beats b at t. With two
algorithms P(best) is P(better). An algorithm that beats all others has the highest value. Clones do
not split votes, and each pair uses all problems that its two algorithms share.
"""

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from polarbear.inference.posterior_draws import Posterior


def rival_values(
    posterior: Posterior,
    items: Sequence[int],
    value: Callable[[np.ndarray], np.ndarray],
    rivals: Sequence[int] | None = None,
) -> np.ndarray:
    """Draws of V, the lowest value over all rivals, with the items on the last axis.

    ``value`` maps win probabilities [draw, time] to values of any shape. ``rivals`` are by default
    the items; an item without a rival has the value of winning always.
    """
    against = items if rivals is None else rivals
    values = []
    for a in items:
        wins = (posterior.head_to_head(a, b) for b in against if b != a)
        first = next(wins, np.ones(posterior.theta.shape[:2]))
        values.append(reduce(np.minimum, map(value, wins), value(first)))
    return np.stack(values, axis=-1)


def is_best(values: np.ndarray) -> np.ndarray:
    """1 where an item, on the last axis, has the highest value; items that tie share the 1."""
    highest = values >= values.max(axis=-1, keepdims=True)
    return np.asarray(highest / highest.sum(axis=-1, keepdims=True))


def p_best(values: np.ndarray) -> np.ndarray:
    """The share of draws, on the first axis, in which each item has the highest value."""
    return np.asarray(is_best(values).mean(axis=0))


def p_best_at_each_time(posterior: Posterior, items: Sequence[int]) -> np.ndarray:
    """P(best at t) among the items: [time, item]; of two it is P(better)."""
    if len(items) == 2 and posterior.exact_duels is not None:
        p_first_is_better = posterior.p_better(*items)
        return np.stack([p_first_is_better, 1 - p_first_is_better], axis=1)
    return p_best(rival_values(posterior, items, np.asarray))


def likeliest_best(p_best: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """The item with the highest P(best) on the last axis.

    Between equals the mean value decides, then the order of the items.
    """
    return np.asarray(np.lexsort((-mean, -p_best), axis=-1)[..., 0])


def gains_over(values: np.ndarray, choice: np.ndarray) -> np.ndarray:
    """The expected regret of a choice, split by the item that is best: [..., item].

    ``values`` are [draw, ..., item] and ``choice`` has the index of an item for each of the axes
    between. The part of an item is E[(V_item - V_choice) [the item is best]].
    """
    value_of_choice = np.take_along_axis(values, choice[np.newaxis, ..., np.newaxis], axis=-1)
    lost = values.max(axis=-1, keepdims=True) - value_of_choice
    return np.asarray((lost * is_best(values)).mean(axis=0, dtype=np.float64))


def p_equivalent(wins: np.ndarray, epsilon: float) -> np.ndarray:
    """The share of draws, on the first axis, in which a win rate is within epsilon of even."""
    return np.asarray((np.abs(wins - 0.5) <= epsilon).mean(axis=0))
