"""Decisions taken again from stored runs: killed and started again or not, they are the same."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from polarbear.config.configuration import Config
from polarbear.driver import collect
from polarbear.driver.loop import Race
from polarbear.driver.race_progress import Watcher
from polarbear.driver.reconcile import Answers, cost_words, take_in
from polarbear.execution.run import Problems, execute
from polarbear.facts.evidence import evidence_of
from polarbear.racing import RoundRecord
from polarbear.store import StoreOnDisk
from polarbear.store.runs import FinishedRun
from polarbear.wording import counted
from tests.driver.test_loop import RATINGS, checkpoints, configured, facts_of
from tests.faults import races


class Killed(Exception):
    pass


class Killer(Watcher):
    """Ends a race after a number of rounds, as a kill would."""

    def __init__(self, after: int) -> None:
        self.after = after

    def ends(self, record: RoundRecord) -> None:
        if record.state.round >= self.after:
            raise Killed


def race(
    config: Config, folder: Path, answers: Answers | None = None, kill_after: int | None = None
) -> tuple[StoreOnDisk, list[str]]:
    store = StoreOnDisk.create(folder, config.stored())
    watcher = Watcher() if kill_after is None else Killer(kill_after)
    with store.writing():
        notes = take_in(config, store, answers or Answers(), racing=True)
        Race(config, store, [watcher]).run()
    return store, notes


BATCH = {"batch": {"start": 4, "min": 4, "max": 4}}
STRICT = {**BATCH, "alpha": 0.999999, "limits": {"rounds": 5}}
LAX = {**BATCH, "alpha": 0.9, "resolution": "strict", "limits": {"rounds": 7}}


def test_killed_while_deciding_again_a_race_ends_with_the_same_rounds_to_the_byte(tmp_path: Path):
    race(configured(rules=STRICT), tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "killed")
    before = checkpoints(StoreOnDisk.open(tmp_path / "whole"))
    redecide = Answers(redecide=True)
    uninterrupted, notes = race(configured(rules=LAX), tmp_path / "whole", redecide)
    assert f"{counted(5, 'round')} to decide again" in notes[0]
    for after in (1, 3):
        with pytest.raises(Killed):
            race(configured(rules=LAX), tmp_path / "killed", redecide, kill_after=after)
    killed, notes = race(configured(rules=LAX), tmp_path / "killed", redecide)
    assert "nothing has changed: the race continues" in notes[0]
    assert checkpoints(killed) == checkpoints(uninterrupted) != before
    assert len(killed.races.numbers()) == 1
    earlier = [p.read_bytes() for p in sorted((killed.path / "races/race-0001").glob("round-*"))]
    assert earlier == before


def test_the_price_of_deciding_again_includes_runs_by_their_stored_times(tmp_path: Path):
    """Runs that end before the grid start from the beginning: 60 evaluations at 0.5 s each."""
    config = configured(("good", "late"), execution={"workers": 2})
    store = StoreOnDisk.create(tmp_path / "s", config.stored())
    problems = Problems(config.instances, config.setting)
    instances = [config.instances.instance(i, config.setting) for i in range(3)]
    tasks = collect.RunPlan(config, store).missing({}, instances, {"good": (20,), "late": (60,)})
    with store.writing():
        store.add_instances(instances, "synthetic")
        timed = [replace(execute(t, problems), seconds=0.5 * t.budget) for t in tasks]
        store.add_runs([FinishedRun.of(outcome, workers=2) for outcome in timed])
    assert cost_words(config, store, []) == (
        "0 runs to repeat, 0 rounds to decide again, up to 3 runs to extend (from their "
        "beginning), in about 45 s"
    )


def test_a_file_that_changes_under_a_race_stops_it_before_its_runs_are_mixed(tmp_path: Path):
    (tmp_path / "touched.py").write_text(
        "def still(problem, seed):\n    while True:\n        problem(problem.lower)\n"
    )
    algorithms = [{"name": n, "use": "python", "function": "touched:still"} for n in "ab"]
    config = replace(
        configured(
            rules={**BATCH, "limits": {"rounds": 3}},
            algorithms=algorithms,
            instances={"suite": "classic", "dimensions": {"from": 2, "to": 2}},
        ),
        folder=str(tmp_path),
    )

    class Editor(Watcher):
        def ends(self, record: RoundRecord) -> None:
            code = (tmp_path / "touched.py").read_text()
            (tmp_path / "touched.py").write_text(code.replace("problem.lower", "problem.upper"))

    store = StoreOnDisk.create(tmp_path / "s", config.stored())
    with store.writing(), pytest.raises(Exception, match=r"touched.py changed while"):
        Race(config, store, [Editor()]).run()
    assert store.rounds.numbers() == [1]
    assert len(store.runs()) == 8


@pytest.mark.parametrize(
    ("model", "count"), [("empirical", 3), pytest.param("dirichlet", 2, marks=pytest.mark.slow)]
)
@pytest.mark.filterwarnings("ignore::polarbear.errors.PolarBearWarning")  # few draws, on purpose
def test_the_order_of_algorithms_in_the_file_is_shown_and_changes_no_byte(tmp_path, model, count):
    orders = [("good", "bad", "early"), ("early", "good", "bad"), ("bad", "early", "good")]
    changes = {
        "ratings": {name: values[::2] for name, values in RATINGS.items()},
        "budget": {"grid": [10, 30, 50]},
        "inference": {"model": model, "draws": 400},
        "execution": {"early": 0},
    }
    contents = []
    for order in orders[:count]:
        folder = tmp_path / order[0]
        resumed_order = ("late", *reversed(order))
        rules = {**races.RULES, "alpha": 0.95}
        races.raced(folder, configured(order, rules={**rules, "limits": {"rounds": 2}}, **changes))
        before = checkpoints(StoreOnDisk.open(folder))
        longer = configured(resumed_order, rules={**rules, "limits": {"rounds": 9}}, **changes)
        races.raced(folder, longer)
        store = StoreOnDisk.open(folder)
        assert checkpoints(store)[:2] == before
        facts = facts_of(store)
        names = [*order, "late"]  # the order of the first file, then newcomers
        assert [standing["algorithm"] for standing in facts["algorithms"]] == names
        assert facts["pareto_set"] == [name for name in names if name in facts["pareto_set"]]
        content = races.essence(folder)
        contents.append({**content, "config": None, "evidence": evidence_of(store).key})
    assert contents[0]["races"] == []
    assert len(contents[0]["rounds"]) > 6
    assert contents == [contents[0]] * count
