"""The live display of a race: a line per algorithm within 80 columns."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from polarbear.cli.progress_display import BAR_COLUMNS, History, bar
from polarbear.racing import Elimination, Threat

LONG = [f"configuration {'x' * 60} population {size}" for size in (10, 100)]


def record(names: list[str], out: dict[str, float], threats: dict[str, float]) -> Any:
    gone = tuple(Elimination(name, names[0], 1, 8, p) for name, p in out.items())
    state = SimpleNamespace(algorithms=tuple(names), eliminated=gone)
    threatened = {name: Threat(names[0], p) for name, p in threats.items()}
    return cast(Any, SimpleNamespace(state=state, threats=threatened))


def run(name: str, failed: bool = False) -> Any:
    task = SimpleNamespace(algorithm=SimpleNamespace(name=name))
    return cast(Any, SimpleNamespace(task=task, status=SimpleNamespace(failed=failed)))


def test_every_algorithm_has_a_line_before_anything_is_known():
    history = History()
    assert history.lines() == []
    history.enter(["A", "B"])
    history.finished(run("B", failed=True))
    _, first, second = history.lines()
    assert first.split() == ["A", "?", "0", "runs"]
    assert second.split() == ["B", "?", "1", "run,", "1", "failed"]


def test_a_curve_grows_by_a_round_and_ends_at_the_elimination():
    history = History()
    history.ends(record(["A", "B"], {}, {"A": 0.0, "B": 0.5}))
    history.ends(record(["A", "B"], {"B": 1.0}, {"A": 0.0}))
    history.ends(record(["A", "B"], {"B": 1.0}, {"A": 0.25}))
    _, first, second = history.lines()
    assert first.split()[:3] == ["A", "▂", "0.25"]
    assert second.split()[:4] == ["B", "▄█", "1.00", "eliminated,"]


def test_long_names_and_many_rounds_fit_into_80_columns_and_stay_distinct():
    history = History()
    for _ in range(200):
        history.ends(record(LONG, {}, dict.fromkeys(LONG, 0.5)))
    for name in LONG:
        for _ in range(2000):
            history.finished(run(name, failed=True))
    lines = history.lines()
    assert max(map(len, lines)) <= 80
    assert len({line.split("  ")[0] for line in lines}) == 3


def test_the_bar_is_as_long_as_the_share_that_is_done():
    half = BAR_COLUMNS // 2
    assert bar(20, 40) == "█" * half + "░" * half
    assert bar(40, 40) == "█" * BAR_COLUMNS
    assert bar(0, 40) == bar(0, 0) == "░" * BAR_COLUMNS
