"""Streams of newcomers that are judged against a set: errors, power, gains and costs.

    python benchmarks/judge.py [--streams 100] [--output FILE]

An algorithm has a value at each of 20 times on each of 400 cached problems: a true quality and
normal noise, whose correlation between neighbouring times is 0.9. Better by 0.74 means to win 0.7
of the problems. Nothing is run. Judged are

- `equal`: 200 newcomers that equal the default;
- `improvements`: among 200 equal ones, 5 that win 0.7 against every other algorithm on a fifth of
  the grid of their own;
- `lucky`: the same, with a set that has one equal algorithm that was accepted by luck: of 200, the
  one with the highest wealth;
- `hopeless`: newcomers that win 0.1 at every time.

In streams, eliminations are left out: they could only end a judgement earlier that does not end as
a member.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy.special import ndtr, ndtri

from polarbear.facts.evidence import Evidence, ranked
from polarbear.facts.newcomer_facts import NewcomerRates, gain_of
from polarbear.inference.empirical.decisions import decide_by_duels
from polarbear.inference.model_options import ModelOptions
from polarbear.racing.anytime_bound import log_wealth_of_member
from polarbear.racing.newcomers import (
    NEGLIGIBLE_CHANCE,
    Examination,
    chances_of_newcomer,
    log_wealth_of_newcomer,
    next_look,
)
from polarbear.racing.rules import Rules
from polarbear.rankings import GridValues

N_TIMES = 20
CACHED = 400
NEWCOMERS = 200
IMPROVEMENTS = 5
CORRELATION = 0.9
TIMES = np.arange(1.0, N_TIMES + 1)
BETTER = np.sqrt(2) * float(ndtri(0.7))  # the difference in quality that wins 0.7
HOPELESS = np.sqrt(2) * float(ndtri(0.1))
CONCENTRATION = ModelOptions().concentration


@dataclass(frozen=True)
class Accepted:
    """A newcomer that became a member: whether it is a real improvement, and its stated gain."""

    index: int
    is_real: bool
    decided_after: int
    low: float | None
    high: float | None
    true_rate: float | None


@dataclass(frozen=True)
class Stream:
    """The members of one stream, and the mean number of problems of the newcomers."""

    accepted: tuple[Accepted, ...]
    mean_cost: float


def drawn_values(quality: np.ndarray, problems: int, generator: np.random.Generator) -> np.ndarray:
    """Values of one algorithm on problems: [problem, time]; higher is better."""
    noise = generator.standard_normal((problems, len(quality)))
    for time in range(1, len(quality)):
        fresh = np.sqrt(1 - CORRELATION**2) * noise[:, time]
        noise[:, time] = CORRELATION * noise[:, time - 1] + fresh
    return np.asarray(quality + noise, dtype=np.float32)


def qualities(n_real: int, newcomers: int, generator: np.random.Generator) -> np.ndarray:
    """The qualities of a stream: [newcomer, time]; ``n_real`` lead on a part of the grid."""
    quality = np.zeros((newcomers, N_TIMES))
    places = generator.choice(newcomers, n_real, replace=False)
    length = N_TIMES // IMPROVEMENTS
    for number, place in enumerate(places):
        quality[place, number * length : (number + 1) * length] = BETTER
    return quality


def judged_stream(
    quality: np.ndarray,
    seed: int,
    alpha: float,
    lucky: bool = False,
    cached: int = CACHED,
) -> Stream:
    """Judge newcomers with these qualities one after the other; the set begins with a default."""
    generator = np.random.default_rng(seed)
    newcomers = len(quality)
    values = np.stack([drawn_values(row, cached, generator) for row in quality])
    member_quality = [np.zeros(N_TIMES)]
    members = [drawn_values(member_quality[0], cached, generator)]
    if lucky:
        members.append(_luckiest(members[0], generator, newcomers, cached))
        member_quality.append(np.zeros(N_TIMES))
    accepted: list[Accepted] = []
    costs = np.zeros(newcomers)
    first = 0
    while first < newcomers:
        number, decided_after, own_costs = _until_accepted(
            values[first:], np.stack(members), first, alpha
        )
        costs[first : first + len(own_costs)] = own_costs
        if number is None:
            break
        index = first + number
        accepted.append(
            _accepted(values[index], quality[index], members, member_quality, index, decided_after)
        )
        costs[index] = cached
        members.append(values[index])
        member_quality.append(quality[index])
        first = index + 1
    return Stream(tuple(accepted), float(costs.mean()))


def _until_accepted(
    values: np.ndarray, members: np.ndarray, earlier: int, alpha: float
) -> tuple[int | None, int, np.ndarray]:
    """The first of these newcomers that becomes a member, after how many problems, and costs.

    All are judged against the same members at once, as each of them would be alone.
    """
    n, cached, _ = values.shape
    needed = [log_wealth_of_member(alpha, earlier + number + 1) for number in range(n)]
    log_needed = np.array(needed)
    # Chances are computed once for newcomers that need nearly the same, and are rather too low.
    coarse_needed = np.ceil(4 * log_needed) / 4
    shown = np.zeros((n, len(members)))
    is_open = np.ones(n, dtype=bool)
    became_member = np.zeros(n, dtype=bool)
    costs = np.zeros(n)
    wins = np.zeros((n, N_TIMES, len(members)))
    losses = np.zeros_like(wins)
    seen = 0
    while is_open.any():
        look = next_look(seen, cached)
        new = slice(seen, look)
        seen = look
        going_on = np.flatnonzero(is_open)
        own = values[going_on, new, :, None]
        rivals = np.moveaxis(members[:, new], 0, -1)
        wins[going_on] += (own > rivals).sum(axis=1)
        losses[going_on] += (own < rivals).sum(axis=1)
        costs[going_on] = seen
        wealth = log_wealth_of_newcomer(wins[going_on], losses[going_on])
        shown[going_on] = np.maximum(shown[going_on], wealth)
        is_shown = shown[going_on] >= log_needed[going_on, None]
        is_member = is_shown.all(axis=1)
        chances = chances_of_newcomer(
            wins[going_on],
            losses[going_on],
            np.full((N_TIMES, len(members)), float(cached - seen)),
            coarse_needed[going_on, None, None],
        )
        chances[is_shown] = 1
        is_given_up = (chances.min(axis=1) < NEGLIGIBLE_CHANCE) | (seen >= cached)
        became_member[going_on] = is_member
        is_open[going_on] = ~is_member & ~is_given_up
    if not became_member.any():
        return None, 0, costs
    number = int(became_member.argmax())
    return number, int(costs[number]), costs[:number]


def _luckiest(
    default: np.ndarray, generator: np.random.Generator, newcomers: int, cached: int
) -> np.ndarray:
    """Of many equal newcomers, the one with the highest wealth against the default."""
    values = np.stack(
        [drawn_values(np.zeros(N_TIMES), cached, generator) for _ in range(newcomers)]
    )
    wins = (values > default).sum(axis=1)[..., None]
    wealth = log_wealth_of_newcomer(wins, cached - wins)
    return np.asarray(values[int(wealth.argmax())])


def _evidence(values: np.ndarray) -> Evidence:
    """Evidence of values[problem, algorithm, time], of which lower ones are better."""
    names = tuple(f"a{number}" for number in range(values.shape[1]))
    instances = tuple(f"i{number}" for number in range(len(values)))
    return ranked(GridValues(instances, names, TIMES, values), TIMES / N_TIMES)


def _accepted(
    values: np.ndarray,
    quality: np.ndarray,
    members: list[np.ndarray],
    member_quality: list[np.ndarray],
    index: int,
    decided_after: int,
) -> Accepted:
    """A new member with its gain, stated from problems that it was not selected on."""
    evidence = _evidence(-np.stack([*members, values], axis=1).astype(float))
    selected = NewcomerRates.of(evidence.of_instances(slice(decided_after)), CONCENTRATION)
    gain = gain_of(selected, evidence.of_instances(slice(decided_after, None)))
    true_rate = None
    if gain is not None:
        is_inside = (gain.from_ <= TIMES) & (gain.to >= TIMES)
        rival_quality = member_quality[int(gain.rival[1:])]
        true_rate = float(ndtr((quality - rival_quality)[is_inside] / np.sqrt(2)).mean())
    return Accepted(
        index=index,
        is_real=bool(quality.any()),
        decided_after=decided_after,
        low=None if gain is None else gain.low,
        high=None if gain is None else gain.high,
        true_rate=true_rate,
    )


def cost_of_hopeless(seed: int, alpha: float, members: int = 2, cached: int = CACHED) -> int:
    """The number of problems on which a newcomer is run that wins 0.1 at every time."""
    generator = np.random.default_rng(seed)
    rivals = [drawn_values(np.zeros(N_TIMES), cached, generator) for _ in range(members)]
    newcomer = drawn_values(np.full(N_TIMES, HOPELESS), cached, generator)
    evidence = _evidence(-np.stack([*rivals, newcomer], axis=1).astype(float))
    rules = Rules(alpha=alpha).under(temporal=False)
    names = evidence.grid.algorithms
    examination = Examination.of(
        names[:-1], names[-1], tuple(TIMES.tolist()), rules, entrant=seed + 1, cached=cached
    )
    shown = examination.nothing_shown
    seen = 0
    while True:
        seen = next_look(seen, cached)
        record = evidence.of_instances(slice(seen)).duels.record()
        tables = partial(decide_by_duels, record, rules.epsilon, CONCENTRATION)
        ahead = np.full((N_TIMES, members), cached - seen)
        look = examination.look(seen, record, tables, shown, ahead)
        if look.verdict is not None:
            return seen
        shown = look.log_wealth


def covered(streams: list[Stream]) -> tuple[int, int]:
    """How many stated gains contain the true one, and how many were stated."""
    stated = [one for stream in streams for one in stream.accepted if one.true_rate is not None]
    n_covered = sum(one.low <= one.true_rate <= one.high for one in stated)
    return n_covered, len(stated)


def n_real(stream: Stream) -> int:
    return sum(one.is_real for one in stream.accepted)


def report(streams: int, alpha: float) -> str:
    """All rows as a page."""
    equal = [judged_stream(np.zeros((NEWCOMERS, N_TIMES)), seed, alpha) for seed in range(streams)]
    with_real = []
    with_lucky = []
    for seed in range(streams):
        generator = np.random.default_rng([seed, 1])
        quality = qualities(IMPROVEMENTS, NEWCOMERS, generator)
        with_real.append(judged_stream(quality, seed, alpha))
        with_lucky.append(judged_stream(quality, seed, alpha, lucky=True))
    costs = np.array([cost_of_hopeless(seed, alpha) for seed in range(streams)])
    n_wrong = sum(bool(stream.accepted) for stream in equal)
    all_five = sum(n_real(stream) == IMPROVEMENTS for stream in with_real)
    all_five_lucky = sum(n_real(stream) == IMPROVEMENTS for stream in with_lucky)
    wrong_beside = sum(n_real(stream) < len(stream.accepted) for stream in with_real)
    share = sum(map(n_real, with_real)) / (IMPROVEMENTS * streams)
    share_lucky = sum(map(n_real, with_lucky)) / (IMPROVEMENTS * streams)
    n_covered, n_stated = covered(with_real)
    n_members = sum(len(stream.accepted) for stream in with_real)
    decided = [one.decided_after for stream in with_real for one in stream.accepted]
    rows = [
        ("equal: streams with a wrong member", f"{n_wrong} of {streams}", "at most 5%"),
        ("equal: problems for one newcomer, mean", f"{_mean_cost(equal):.0f} of {CACHED}", ""),
        (
            "improvements: streams in which all five are members",
            f"{all_five} of {streams} = {all_five / streams:.0%}",
            "at least 80%",
        ),
        ("improvements: members of all improvements", f"{share:.1%}", ""),
        ("improvements: streams with a wrong member", f"{wrong_beside} of {streams}", "at most 5%"),
        ("improvements: median problems until a member", f"{np.median(decided):.0f}", ""),
        (
            "improvements: stated gain covers the true one",
            f"{n_covered} of {n_stated} = {n_covered / max(n_stated, 1):.1%}",
            "90% to 98%",
        ),
        ("improvements: members whose gain is stated", f"{n_stated} of {n_members}", ""),
        (
            "lucky: streams in which all five are members",
            f"{all_five_lucky} of {streams} = {all_five_lucky / streams:.0%}",
            "at least 80%",
        ),
        ("lucky: members of all improvements", f"{share_lucky:.1%}", ""),
        (
            "hopeless: problems, mean and largest",
            f"{costs.mean():.1f}, {costs.max()}",
            "at most 12",
        ),
    ]
    lines = [
        "# Streams of newcomers",
        "",
        f"`python benchmarks/judge.py --streams {streams}` describes the streams; alpha {alpha:g}, "
        f"{CACHED} cached problems, {N_TIMES} times, {NEWCOMERS} newcomers.",
        "",
        "| measured | result | goal |",
        "|---|---|---|",
        *(f"| {name} | {result} | {goal} |" for name, result, goal in rows),
    ]
    return "\n".join(lines) + "\n"


def _mean_cost(streams: list[Stream]) -> float:
    return float(np.mean([stream.mean_cost for stream in streams]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--alpha", type=float, default=Rules().alpha)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    text = report(arguments.streams, arguments.alpha)
    if arguments.output is not None:
        arguments.output.write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
