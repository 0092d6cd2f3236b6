"""Data of the page: draws for the selector, estimates of each round, sampled runs, sentences.

The page fills gaps of the form {name} in sentences; its scripts contain no words about a choice.
"""

import math
import shlex
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from polarbear.facts.run_details import better_in, repeating, tolerance_of
from polarbear.inference import Posterior
from polarbear.inference.beliefs import Beliefs
from polarbear.racing import Elimination
from polarbear.racing.race_settings import RaceSettings
from polarbear.racing.recommendation import MIN_PROBLEMS
from polarbear.report.context import ReportContext, Round
from polarbear.report.figures.base import draws_source
from polarbear.report.figures.style import COLOURS
from polarbear.report.page.assets import compressed, packed
from polarbear.report.words import evidence
from polarbear.selection import budget_preferences, choice
from polarbear.selection.basic_preferences import NEAREST
from polarbear.selection.posterior_source import Basis
from polarbear.selection.preference import AT_ITS_WORST, AT_THE_BUDGET, OVER_BUDGETS, Context
from polarbear.settings.decision_levels import DEFAULT_QUANTILE_LEVEL
from polarbear.settings.enumerations import Theme
from polarbear.wording import P_BEST, SAME_VALUES, counted, page_words, percent, tick

# Win probabilities in a page take two bytes each, a third more as base64. All draws that fit into
# TARGET_NUMBERS are included, and at least MIN_DRAWS as long as these are at most MAX_NUMBERS.
TARGET_NUMBERS = 75_000
MIN_DRAWS = 400
MAX_NUMBERS = 560_000
NOUNS = ("draw", "instance", "problem", "run")  # the page counts these
# Axes over more orders of magnitude have a tick at each order, or at every other one.
MAX_ORDERS_WITH_ALL_TICKS = 4
MAX_ORDERS_WITH_ONE_TICK = 8
MIN_INSTANCES = 8
MAX_INSTANCES = 60
MAX_VALUES = 60_000  # in the sample of runs, eight bytes each before compression

CHOICE = f"{{early}}{P_BEST} = {{probability}}{{error}}{{rests}}{choice.BEATS}{choice.REGRET}."
ERROR = " (±\u00a0{error})"
GAIN = (
    f"Exact knowledge could gain at most {{gain}} over {{name}}; {{part}} of it from {{rival}}, "
    f"whose {P_BEST} is {{probability}}."
)
NO_GAIN = "Exact knowledge can gain nothing here: {name} is the best in every draw."


def of(context: ReportContext) -> dict[str, object]:
    """Everything but the figures."""
    return {
        "name": context.store.path.resolve().name,
        "algorithms": list(context.algorithms),
        "labels": {name: label for name, label in context.labels.items() if label != name},
        "out": [name for name in context.algorithms if name not in context.remaining],
        "times": context.times.tolist(),
        "axis": context.axis,
        "words": page_words(context.axis, NOUNS),
        "log_times": context.log_times,
        "ticks": ticks(float(context.times[0]), float(context.times[-1])),
        "colours": len(COLOURS[Theme.LIGHT]),  # after them, colours repeat with another dash
        "selector": selector(context),
        "closer": instance_sample(context),
        "moments": moments(context),
    }


def selector(context: ReportContext) -> dict[str, object] | None:
    """Draws of the candidates' win probabilities, thinned evenly to what a page can carry.

    ``wins[pair, time, draw]`` is the probability that the first of a pair beats the second, pairs
    in the order of ``combinations``; ``problems[pair]`` counts the problems that a pair shares at
    each time, None where the model does not count them. ``exact`` has P(better) and the win rate of
    the first of two candidates at each time, None where they are those of draws.
    """
    basis = context.draws
    contest = context.contest
    if basis is None or contest is None:
        return None
    posterior = basis.posterior
    pairs = list(combinations(contest.candidates, 2))
    model_option = f" --model {posterior.model}" if basis.source == "infer" else ""
    kept = kept_draws(posterior.draws, max(1, len(pairs)) * len(basis.times))
    wins = np.array([posterior.head_to_head(a, b)[kept].T for a, b in pairs])
    shared = [posterior.problems_shared(a, b) for a, b in pairs]
    return {
        "items": [basis.algorithms[i] for i in contest.candidates],
        "times": basis.times.tolist(),
        "draws": len(kept),
        "of_draws": posterior.draws,
        "effective": min(float(len(kept)), basis.effective_draws),
        "joint": posterior.joint,
        "gamma": DEFAULT_QUANTILE_LEVEL,
        "command": f"polarbear select {shlex.quote(str(context.store.path))}{model_option}",
        "sentences": sentences(basis),
        "limits": {
            "least_mass": budget_preferences.LEAST_MASS,
            "worth_a_note": budget_preferences.WORTH_A_NOTE,
            "least_problems": MIN_PROBLEMS,
        },
        "wins": packed(wins),
        "exact": exact_of_pair(posterior, contest.candidates),
        "problems": [None if counts is None else counts.tolist() for counts in shared],
        "same_on": same_on(posterior, contest.candidates),
    }


def same_on(posterior: Posterior, candidates: Sequence[int]) -> dict[int, list[int]]:
    """By pairs with equal values on all problems at some time: their number at each time."""
    names = [posterior.algorithms[i] for i in candidates]
    same_values = None
    if posterior.duels is not None:
        same_values = posterior.duels.same_values(posterior.algorithms, names)
    if same_values is None:
        return {}
    pairs = enumerate(combinations(range(len(names)), 2))
    counts = {number: same_values[:, a, b] for number, (a, b) in pairs}
    return {number: at_times.tolist() for number, at_times in counts.items() if at_times.any()}


def exact_of_pair(posterior: Posterior, candidates: Sequence[int]) -> dict[str, object] | None:
    """P(better) and the win rate of the first of two candidates; None for more, or by draws."""
    if len(candidates) != 2 or posterior.exact_duels is None:
        return None
    return {
        "p_better": posterior.p_better(*candidates).tolist(),
        "win_rate": posterior.win_rate(*candidates).tolist(),
    }


def kept_draws(draws: int, numbers_a_draw: int) -> np.ndarray:
    """The draws of the page: all where they fit, otherwise at even distances."""
    fewest = min(MIN_DRAWS, MAX_NUMBERS // numbers_a_draw)
    n_kept = max(1, min(draws, max(fewest, TARGET_NUMBERS // numbers_a_draw)))
    return np.arange(n_kept) * draws // n_kept


def sentences(basis: Basis) -> dict[str, str | dict[str, str]]:
    """The sentences of the selector."""
    return {
        "alone": "No other algorithm competes.",
        "choice": CHOICE,
        "error": ERROR,
        "early": choice.EARLY[:1].upper() + choice.EARLY[1:],
        "rests": choice.RESTS,
        "too_early": choice.TOO_EARLY,
        "few_problems": choice.FEW_PROBLEMS,
        "no_problems": choice.NO_PROBLEMS,
        "no_better": choice.NO_BETTER_THAN_CHANCE,
        "close": choice.TOO_CLOSE,
        "same_values": SAME_VALUES,
        "either": choice.EITHER,
        "together": choice.TOGETHER,
        "gain": GAIN,
        "no_gain": NO_GAIN,
        "where": {
            "at": AT_THE_BUDGET,
            "worst-case": AT_ITS_WORST,
            "otherwise": OVER_BUDGETS,
        },
        "each_time": choice.EACH_TIME.format(model=basis.posterior.model),
        "grid": f"the grid goes {Context(basis.times, basis.axis).span}",
        "nearest": NEAREST,
        "cut_off": budget_preferences.CUT_OFF,
        "off_the_grid": budget_preferences.OFF_THE_GRID,
    }


def moments(context: ReportContext) -> list[dict[str, object]]:
    """The estimates after each round; without a race, the present ones.

    The last ones are by the model that choices rest on, where that is not the race's.
    """
    of_rounds = [_after(entry, context) for entry in context.rounds]
    estimates = context.basis_estimates
    basis = context.basis
    has_other_model = context.other_model is not None
    if estimates is None or basis is None or (of_rounds and not has_other_model):
        return of_rounds
    title = f"What the {basis.posterior.model} model says"
    if not of_rounds:
        return [_moment(estimates, context, title=title)]
    own_model = context.rounds[-1].record.settings.inference.model
    among = "" if basis.firsts_among_candidates else ", among all algorithms"
    facts = f"{draws_source(context)}{among}; rounds are by the race's own model, {own_model}."
    facts = facts[0].upper() + facts[1:]
    by_other_model = _moment(estimates, context, title=title, facts=facts, out=of_rounds[-1]["out"])
    return [*of_rounds, by_other_model]


def _after(entry: Round, context: ReportContext) -> dict[str, object]:
    """The estimates after a round, with its facts and all eliminations so far."""
    state = entry.state
    record = entry.record
    facts = (
        f"{counted(state.instances, 'instance')} so far, {record.drawn} of them in this round; "
        f"{len(state.candidates)} of {len(state.algorithms)} algorithms still in, "
        f"{percent(state.share_settled)} of pairs settled."
    )
    return _moment(
        entry.estimates,
        context,
        number=entry.number,
        title=f"Round {entry.number}",
        facts=facts,
        out=[
            _eliminated(elimination, entry.number, record.settings)
            for elimination in state.eliminated
        ],
    )


def _moment(estimates: Beliefs, context: ReportContext, **words: object) -> dict[str, object]:
    """Estimates with their words; ``times`` only where the grid was not the present one."""
    same = np.array_equal(estimates.times, context.times)
    return {
        **{"number": 0, "facts": "", "out": [], **words},
        "algorithms": list(estimates.algorithms),
        "times": None if same else estimates.times.tolist(),
        "mean": packed(estimates.mean),
        "low": packed(estimates.low),
        "high": packed(estimates.high),
    }


def _eliminated(
    elimination: Elimination, round_number: int, settings: RaceSettings
) -> dict[str, str]:
    """An elimination up to a round, in words around the two names."""
    when = f"in round {elimination.round}"
    if elimination.round == round_number:
        when = "in this round"
    words = f"{{algorithm}} was eliminated {when} by {{by}}: {evidence(elimination, settings)}"
    return {"algorithm": elimination.algorithm, "by": elimination.by, "words": words}


def ticks(first: float, last: float) -> list[tuple[float, str]]:
    """Times with their labels: at 1, 2 and 5 of each order of magnitude, or at each order."""
    n_orders = math.log10(last / first)
    powers = range(math.floor(math.log10(first)), math.ceil(math.log10(last)) + 1)
    multiples = (1, 2, 5) if n_orders <= MAX_ORDERS_WITH_ALL_TICKS else (1,)
    values = [float(f"{multiple}e{power}") for power in powers for multiple in multiples]
    on_axis = [value for value in values if 0.98 * first <= value <= 1.02 * last]
    stride = 1 if n_orders <= MAX_ORDERS_WITH_ONE_TICK else 2
    return [(value, tick(value)) for value in on_axis[::stride]]


def instance_sample(context: ReportContext) -> dict[str, object] | None:
    """Instances with the most runs, and the best value so far of each run at each time.

    Instances are drawn at random, and an early stop of an algorithm does not depend on the values
    on an instance, so the instances with the most runs are a fair sample. A run is its status, its
    length, and its seed as text, which is too long for a JavaScript number.
    """
    store = context.store
    runs = store.runs()
    if runs.is_empty() or store.n_objectives > 1:
        return None
    grid = store.on_grid(context.times, context.algorithms)
    has_value = grid.present
    comparable = np.flatnonzero(has_value.any(axis=2).sum(axis=1) > 1)
    if len(comparable) == 0:
        return None
    sample = _fullest_instances(has_value, comparable)
    columns = ("instance", "algorithm", "status", "reached", "seed")
    facts_of_run = {
        (instance, algorithm): [status, reached, str(seed)]
        for instance, algorithm, status, reached, seed in runs.select(columns).iter_rows()
    }
    names = [grid.instances[i] for i in sample]
    values = grid.feasible_values()[sample]
    in_own_sign = np.where(np.isinf(values), np.inf, store.sign * values)
    # Positions order the outcomes that have no feasible value.
    positions = {}
    if grid.violations is not None:
        positions = {"positions": compressed(grid.positions()[sample].astype("<f8").tobytes())}
    return {
        **positions,
        "instances": names,
        "of": len(comparable),
        "better": better_in(store),
        "larger": store.sign < 0,
        "tolerance": tolerance_of(store),
        "runs": [[facts_of_run.get((name, a)) for a in context.algorithms] for name in names],
        "show": f"polarbear show {shlex.quote(str(store.path))}",
        "run": repeating(store),
        "values": compressed(in_own_sign.astype("<f8").tobytes()),
    }


def _fullest_instances(has_value: np.ndarray, comparable: np.ndarray) -> np.ndarray:
    """Those comparable instances with the most runs that a page can carry, in their order."""
    _, n_algorithms, n_times = has_value.shape
    n_fitting = min(MAX_INSTANCES, MAX_VALUES // (n_algorithms * n_times))
    n_values = has_value[comparable].sum(axis=(1, 2))
    fullest = np.argsort(-n_values, kind="stable")[: max(MIN_INSTANCES, n_fitting)]
    return np.sort(comparable[fullest])
