"""The driver of a race, on algorithms whose true ratings are known."""

import json
import shutil
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from polarbear import racing as race
from polarbear.config.configuration import Config, parse
from polarbear.driver.loop import SETTLED, Ended, Race
from polarbear.driver.race_progress import Watcher
from polarbear.errors import AlgorithmError, RaceError
from polarbear.execution.outcome import Outcome
from polarbear.facts.evidence import cached_posterior, evidence_of
from polarbear.facts.standings import standings
from polarbear.inference import Posterior
from polarbear.problems.base import Instance
from polarbear.problems.specs import PROBLEM
from polarbear.problems.synthetic import Synthetic
from polarbear.racing import RoundRecord
from polarbear.selection.posterior_source import find_basis
from polarbear.settings.options import Source
from polarbear.store import StoreOnDisk
from tests.store.editing import remove_rounds
from tests.support import RANDOM, solver

# Clearly above at all times, below at all times, and two that cross.
RATINGS = {
    "good": [2.0] * 6,
    "bad": [0.4] * 6,
    "early": [5.0, 5.0, 3.0, 2.0, 0.8, 0.8],
    "late": [0.8, 0.8, 2.0, 3.0, 5.0, 5.0],
}


def configured(
    names: tuple[str, ...] = ("good", "bad", "early"),
    ratings: dict[str, Any] | None = None,
    rules: dict[str, Any] | None = None,
    **changes: Any,
) -> Config:
    data: dict[str, Any] = {
        "seed": 7,
        "algorithms": [{"name": name, "use": "synthetic"} for name in names],
        "instances": {"suite": "synthetic", "ratings": ratings or RATINGS},
        "budget": {"grid": [10, 20, 30, 40, 50, 60]},
        "execution": {"workers": 1},
        "race": {"alpha": 0.95, "regret": None, **(rules or {})},
        "inference": {"draws": 1000},
    }
    return parse({**data, **changes}, Source("config.yaml"))


class Notes(Watcher):
    """Writes down which runs were executed."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, str, float]] = []
        self.rounds: list[RoundRecord] = []

    def finished(self, outcome: Outcome) -> None:
        task = outcome.task
        self.runs.append((task.algorithm.name, task.instance.id, task.budget))

    def ends(self, record: RoundRecord) -> None:
        self.rounds.append(record)


def run(config: Config, folder: Path, **options: Any) -> tuple[Ended, StoreOnDisk, Notes]:
    notes = Notes()
    store = StoreOnDisk.create(folder, config.stored())
    with store.writing():
        store.adopt(config.stored(), config.instances.uses_grid)
        ended = Race(config, store, [notes], **options).run()
    return ended, store, notes


def checkpoints(store: StoreOnDisk) -> list[bytes]:
    return [path.read_bytes() for path in sorted((store.path / "rounds").glob("round-*.json"))]


def facts_of(store: StoreOnDisk) -> dict[str, Any]:
    standings_of_store = standings(store)
    assert standings_of_store is not None
    return standings_of_store.to_dict()


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ended, StoreOnDisk, Notes]:
    """A race that is settled; tests that write to its store take a copy."""
    return run(configured(), tmp_path_factory.mktemp("settled") / "s")


@pytest.fixture
def copied(settled: tuple[Ended, StoreOnDisk, Notes], tmp_path: Path) -> StoreOnDisk:
    return StoreOnDisk.open(Path(shutil.copytree(settled[1].path, tmp_path / "s")))


def test_a_race_finds_the_pareto_set_and_says_why(settled):
    ended, store, notes = settled
    assert ended == Ended(SETTLED, at_limit=False)
    facts = facts_of(store)
    assert facts["pareto_set"] == ["good", "early"]
    (out,) = facts["eliminated"]
    assert (out["algorithm"], out["by"]) == ("bad", "good")
    assert out["probability"] >= 0.95
    assert facts["resolved"]
    assert facts["open_pairs"] == []
    assert facts["settled_pairs"] == [{"a": "good", "b": "early", "how": "crossing"}]
    assert [part["algorithm"] for part in facts["best"]] == ["early", "good"]
    assert 0 < facts["saved"] < 1
    assert len(notes.rounds) > 1
    assert store.posteriors.stored() == [notes.rounds[-1].posterior]  # and no other


def test_standings_have_the_keys_that_scripts_rely_on_in_their_order(tmp_path):
    _, store, _ = run(configured(rules={"limits": {"rounds": 1}, "alpha": 0.999}), tmp_path / "s")
    facts = facts_of(store)
    assert list(facts) == [
        *("pareto_set", "eliminated", "resolved", "rounds", "instances", "evaluations"),
        *("failed_runs", "store", "model", "rules", "share_settled", "batch", "joining"),
        *("caught_up", "saved", "instances_by_algorithm", "instances_to_go", "algorithms"),
        *("best", "open_pairs", "settled_pairs", "problems", "p_any_wrong", "fit"),
        *("axis", "spent", "forecast", "recommended", "too_early", "cycles", "reinstated"),
        *("times_as_long", "choices", "drift", "next"),
    ]
    assert json.loads(json.dumps(facts)) == facts  # plain throughout
    assert list(facts["algorithms"][0]) == [
        *("algorithm", "evaluations", "standing", "by", "probability", "spent", "member"),
        *("sceptical", "wealth"),
    ]
    assert list(facts["best"][0]) == ["algorithm", "from", "to"]
    assert list(facts["open_pairs"][0]) == ["a", "b", "times", "from", "to", "p_above"]
    for pair in facts["open_pairs"]:
        low, high = pair["p_above"]
        assert 0 <= low <= high <= 1


def test_a_race_ends_by_equivalence_where_all_are_identical(tmp_path):
    config = configured(("A", "B"), {"A": 1.0, "B": 1.0}, {"epsilon": 0.2, "alpha": 0.99})
    ended, store, _ = run(config, tmp_path / "s")
    assert ended.because == SETTLED
    facts = facts_of(store)
    assert facts["pareto_set"] == ["A", "B"]
    assert facts["settled_pairs"] == [{"a": "A", "b": "B", "how": "equivalent"}]


def test_an_eliminated_algorithm_is_not_run_any_further(tmp_path):
    ratings = {"good": 2.0, "bad": 0.1, "close": 1.9}
    rules = {"limits": {"rounds": 5}, "alpha": 0.99, "resolution": "strict"}
    config = configured(tuple(ratings), ratings, rules)
    _, store, notes = run(config, tmp_path / "s")
    out = store.rounds.read(store.rounds.numbers()[-1]).state.eliminated[0]
    runs = [instance for name, instance, _ in notes.runs if name == "bad"]
    assert len(runs) == out.instances < facts_of(store)["instances"]


def test_late_times_that_are_settled_are_not_run(tmp_path):
    # Alike at first, then far apart: only the first times stay open.
    ratings = {"A": [1.0, 1.0, 6.0, 40.0, 40.0, 40.0], "B": [1.0] * 6}
    limited = {"limits": {"rounds": 3}, "resolution": "strict"}
    config = configured(("A", "B"), ratings, limited)
    ended, store, notes = run(config, tmp_path / "s")
    assert ended == Ended("the limit of 3 rounds is reached", at_limit=True)
    budgets = [max(record.ran_to.values()) for record in notes.rounds]
    assert budgets[0] == 60
    assert budgets[-1] < 60
    assert {budget for _, _, budget in notes.runs} == {60.0, *budgets}
    assert facts_of(store)["saved"] > 0


def test_draws_kept_after_each_round_leave_nothing_behind(settled, tmp_path):
    _, store_of_plain_race, notes = settled
    are_draws_kept = []

    class Looking(Watcher):
        wants_draws = True

        def ends(self, record: RoundRecord) -> None:
            are_draws_kept.append(store.posteriors.stored() == [record.posterior])

    store = StoreOnDisk.create(tmp_path / "often", configured().stored())
    with store.writing():
        Race(configured(), store, [Looking()]).run()
    assert are_draws_kept == [True] * len(notes.rounds)
    assert posterior_keys(store_of_plain_race) == posterior_keys(store)
    assert checkpoints(store_of_plain_race) == checkpoints(store)


def posterior_keys(store: StoreOnDisk) -> list[str]:
    """The keys in the names of the files of posteriors."""
    files = (store.path / "posteriors").iterdir()
    return sorted(path.name.rpartition("-")[0] for path in files)


def test_the_draws_of_an_earlier_round_are_not_taken_for_the_last_ones(tmp_path):
    limited = [configured(rules={"limits": {"rounds": n}, "alpha": 0.999999}) for n in (1, 2)]
    run(limited[0], tmp_path / "s")
    before = StoreOnDisk.open(tmp_path / "s").posteriors
    (first,) = before.stored()
    (name,) = before._catalog.names("posteriors/")
    file_of_first = (name, before._catalog.read(name))
    _, store, notes = run(limited[1], tmp_path / "s")
    assert first not in store.posteriors.stored()
    store.posteriors.remove([notes.rounds[-1].posterior])
    # As a race that was killed in its second round leaves it.
    store.catalog.commit([file_of_first])
    assert store.posteriors.stored() == []
    view = store.with_draws()
    assert view.rounds.numbers() == [1]
    assert view.posteriors.stored() == [first]
    assert find_basis(view).source == "race"


@pytest.mark.parametrize(
    ("limits", "because"),
    [
        ({"rounds": 1}, "the limit of 1 round is reached"),
        ({"instances": 5}, "the limit of 5 instances is reached"),
        ({"hours": 1e-9}, "the limit of 1e-09 hours is reached"),
    ],
)
def test_a_limit_ends_a_race_with_a_valid_result(tmp_path, limits, because):
    config = configured(("A", "B"), {"A": 1.0, "B": 1.1}, {"limits": limits})
    ended, store, _ = run(config, tmp_path / "s")
    assert ended == Ended(because, at_limit=True)
    facts = facts_of(store)
    assert facts["pareto_set"] == ["A", "B"]
    assert not facts["resolved"]
    assert facts["open_pairs"][0]["times"] > 0
    assert facts["forecast"] is None  # unknown after one round
    assert facts["instances"] == limits.get("instances", 8)


def test_an_evaluation_limit_counts_what_was_spent(tmp_path):
    rules = {"limits": {"evaluations": 600}, "alpha": 0.9999}
    config = optimisers(solver("coordinate_descent"), RANDOM, race=rules)
    ended, store, _ = run(config, tmp_path / "s")
    assert ended == Ended("the limit of 600 evaluations is reached", at_limit=True)
    assert sum(facts_of(store)["evaluations"].values()) >= 600


def test_a_suite_that_runs_out_of_instances_ends_the_race(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("1")
    program = "import sys; [print(t, -t, flush=True) for t in range(1, 5)]"
    config = configured(
        algorithms=[
            {"name": name, "use": "command", "command": ["python3", "-c", program]}
            for name in ("A", "B")
        ],
        instances={"suite": "files", "glob": "*.txt"},
        budget={"axis": "iterations", "grid": [1, 2, 3]},
    )
    ended, store, _ = run(replace(config, folder=str(tmp_path)), tmp_path / "s")
    assert ended == Ended("the suite has no further instance: all 3 are used", at_limit=True)
    assert facts_of(store)["instances"] == 3


@pytest.mark.parametrize("lost", [False, True])
def test_a_finished_race_runs_nothing_again_with_or_without_its_rounds(copied, lost):
    if lost:
        remove_rounds(copied.path)
    ended, store, notes = run(configured(), copied.path)
    assert ended.because == SETTLED
    assert notes.runs == []
    assert facts_of(store)["pareto_set"] == ["good", "early"]


def test_a_lost_posterior_of_a_newcomer_comes_back_under_its_name(tmp_path):
    cautious = {"alpha": 0.999999, "limits": {"rounds": 1}}
    run(configured(rules=cautious), tmp_path / "s")
    cautious["limits"] = {"rounds": 2}
    config = configured(tuple(RATINGS), rules=cautious)
    _, store, notes = run(config, tmp_path / "s")
    assert notes.rounds[-1].decisions.caught_up == "late"
    key = notes.rounds[-1].posterior
    store.posteriors.remove([key])
    run(config, tmp_path / "s")
    assert store.posteriors.stored() == [key]


def test_a_newcomer_enters_a_finished_race_and_no_other_algorithm_runs_again(copied):
    with pytest.raises(RaceError, match="'good' is in the race in .* already"):
        run(configured(), copied.path, add=("good",))
    n_instances = facts_of(copied)["instances"]
    config = configured(tuple(RATINGS))
    ended, store, notes = run(config, copied.path)
    assert ended.because == SETTLED
    assert facts_of(store)["pareto_set"] == ["good", "early", "late"]
    catching_up = [record for record in notes.rounds if set(record.ran_to) == {"late"}]
    assert catching_up
    old_instances = {
        config.instances.instance(index, config.setting).id for index in range(n_instances)
    }
    assert {name for name, instance, _ in notes.runs if instance in old_instances} == {"late"}


@pytest.mark.slow
def test_beliefs_between_old_algorithms_do_not_change_while_a_newcomer_catches_up(tmp_path):
    cautious = {"alpha": 0.999999, "limits": {"rounds": 4}, "batch": {"start": 8, "max": 8}}
    run(configured(rules=cautious), tmp_path / "s")
    cautious["limits"] = {"rounds": 8}
    _, store, notes = run(configured(tuple(RATINGS), rules=cautious), tmp_path / "s")
    assert [set(record.ran_to) for record in notes.rounds] == [{"late"}] * 4

    def believed(number: int) -> dict[tuple[str, str], np.ndarray]:
        estimates = store.rounds.beliefs(number)
        names = estimates.algorithms
        return {
            (names[a], names[b]): estimates.above[:, a, b]
            for a, b in combinations(range(len(names)), 2)
        }

    before = believed(4)
    for number in range(5, 9):
        now = believed(number)
        for pair, values in before.items():
            assert np.array_equal(now[pair], values)
    moved = believed(8)["good", "late"] - believed(5)["good", "late"]
    assert np.abs(moved).max() > 0.1


@pytest.mark.slow
def test_a_hopeless_newcomer_is_eliminated_on_stored_instances_alone(settled, tmp_path):
    _, store_of_settled_race, _ = settled
    ratings = {**RATINGS, "new": 0.01}
    run(configured(ratings=ratings), tmp_path / "other")
    _, store, notes = run(configured(("good", "bad", "early", "new"), ratings), tmp_path / "other")
    facts = facts_of(store)
    assert facts["eliminated"][-1]["algorithm"] == "new"
    assert facts["instances"] == facts_of(store_of_settled_race)["instances"]
    assert {name for name, _, _ in notes.runs} == {"new"}


@pytest.mark.slow
def test_only_the_newcomers_asked_for_enter(tmp_path):
    run(configured(("good", "bad")), tmp_path / "s")
    _, store, _ = run(configured(tuple(RATINGS)), tmp_path / "s", add=("late",))
    assert facts_of(store)["instances_by_algorithm"].keys() == {"good", "bad", "late"}
    _, store, _ = run(configured(tuple(RATINGS)), tmp_path / "s")
    assert facts_of(store)["instances_by_algorithm"].keys() == set(RATINGS)


def test_joint_elimination_races_with_a_temporal_model(tmp_path):
    config = configured(
        rules={"elimination": "joint"},
        inference={"model": "bspline", "method": "laplace", "draws": 1000},
    )
    ended, store, _ = run(config, tmp_path / "s")
    assert ended.because == SETTLED
    assert facts_of(store)["pareto_set"] == ["good", "early"]
    pairs = pq.read_table(*(store.path / "rounds").glob("pairs-0001-*.parquet"))
    assert pairs["t"].null_count == 3  # one row a pair for all times at once


def optimisers(*entries: dict[str, Any], **changes: Any) -> Config:
    return configured(
        **{
            "algorithms": list(entries),
            "instances": {"suite": "classic", "dimensions": {"from": 2, "to": 3}},
            "budget": {"grid": [5, 20, 60]},
            "race": {"alpha": 0.95, "limits": {"instances": 64}},
            **changes,
        }
    )


def test_a_newcomer_that_always_crashes_is_an_error_and_changes_no_decision(tmp_path):
    before = (solver("coordinate_descent"), RANDOM)
    _, store, _ = run(optimisers(*before), tmp_path / "s")
    decided = checkpoints(store)
    with pytest.raises(AlgorithmError, match="'fails_at_once' failed in all"):
        run(optimisers(*before, solver("fails_at_once")), tmp_path / "s")
    assert checkpoints(store) == decided


def counted_draws(monkeypatch: pytest.MonkeyPatch, **diagnostics: float) -> list[int]:
    """The number of draws of each posterior of a race, whose diagnostics are changed."""
    draws: list[int] = []

    def counting(*arguments: Any) -> Posterior:
        posterior = cached_posterior(*arguments)
        draws.append(posterior.draws)
        changed = replace(posterior.diagnostics, **diagnostics)
        return replace(posterior, diagnostics=changed)

    monkeypatch.setattr("polarbear.driver.round_posterior.cached_posterior", counting)
    return draws


def test_a_posterior_that_fails_its_checks_decides_nothing_and_ends_the_race(tmp_path, monkeypatch):
    draws = counted_draws(monkeypatch, r_hat=1.2)
    config = configured(inference={"model": "dirichlet", "draws": 1000})
    ended, store, notes = run(config, tmp_path / "s")
    assert ended == Ended("the posterior failed its checks in 3 rounds in a row", at_limit=True)
    assert draws == [1000, 4000] * 3  # Each round tries more draws.
    assert facts_of(store)["pareto_set"] == ["good", "bad", "early"]
    assert all("R-hat" in record.problems[0] for record in notes.rounds)


@pytest.mark.parametrize("undecided", [True, False])
def test_a_decision_within_the_monte_carlo_error_gets_four_times_as_many_draws(
    tmp_path, monkeypatch, undecided
):
    draws = counted_draws(monkeypatch)
    monkeypatch.setattr(race, "needs_more_draws", lambda *_: undecided)
    rules = {"limits": {"rounds": 1}}
    config = configured(inference={"model": "dirichlet", "draws": 1000}, rules=rules)
    run(config, tmp_path / "s")
    assert draws == ([1000, 4000] if undecided else [1000])


@pytest.fixture
def seeds_of_one_problem(monkeypatch) -> None:
    """Let four instances after each other be seeds of one problem."""
    drawn = Synthetic.instance

    def grouped(self: Synthetic, index: int, setting: Any) -> Instance:
        instance = drawn(self, index, setting)
        return replace(instance, spec={**instance.spec, PROBLEM: f"problem {index // 4}"})

    monkeypatch.setattr(Synthetic, "instance", grouped)


@pytest.mark.usefixtures("seeds_of_one_problem")
def test_a_race_counts_seeds_of_one_problem_once(tmp_path):
    rules = {"limits": {"instances": 16}, "alpha": 0.999999}
    _, store, _ = run(configured(rules=rules), tmp_path / "s")
    assert facts_of(store)["instances"] == 16
    (key,) = store.posteriors.stored()
    assert store.posteriors.metadata(key).instances == 4
    evidence = evidence_of(store)
    assert evidence.n_problems == 4
    assert evidence.duels.shared_problems().max() == 4


@pytest.mark.usefixtures("seeds_of_one_problem")
def test_the_anytime_guarantee_refuses_repeated_seeds_of_one_problem(tmp_path):
    with pytest.raises(RaceError, match="instances of this race are repeated seeds of one problem"):
        run(configured(rules={"guarantee": "anytime"}), tmp_path / "s")
