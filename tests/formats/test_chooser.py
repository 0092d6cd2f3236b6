"""The exported decision equals that of `select`."""

import json
import runpy
from pathlib import Path

import pytest

import polarbear as pb
from tests.formats.helpers import numbered_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> pb.Store:
    return pb.open(numbered_store(tmp_path_factory.mktemp("stores") / "s").path)


def test_at_every_time_the_chooser_gives_the_choice_and_probability_of_select(store, tmp_path):
    store.export("chooser", tmp_path / "c.json", preference="final")
    store.export("chooser", tmp_path / "c.py", preference="final")
    facts = json.loads((tmp_path / "c.json").read_text())
    module = runpy.run_path(str(tmp_path / "c.py"))
    assert facts["budgets"] == store.times.tolist()
    for t, (name, probability) in zip(facts["budgets"], facts["choices"], strict=True):
        selected = store.select(f"at {t:.17g}")
        assert name == selected.choice
        assert probability == pytest.approx(selected.ranking[0].p2bb, abs=1e-6)
        assert module["choose"](t) == (name, probability)
    assert module["choose"]() == tuple(facts["default"])
    assert facts["default"][0] == store.select("final").choice
    chooser = store.chooser("final")
    assert chooser.to_dict() == facts
    assert [chooser(t) for t in facts["budgets"]] == [tuple(pair) for pair in facts["choices"]]
    assert chooser() == tuple(facts["default"])


def test_budgets_outside_and_between_times_count_as_the_nearest_earlier_time(store, tmp_path):
    store.export("chooser", tmp_path / "c.py")
    module = runpy.run_path(str(tmp_path / "c.py"))
    choose = module["choose"]
    choices = module["CHOICES"]
    budgets = module["BUDGETS"]
    assert choose(0) == choices[0]
    assert choose(10 * budgets[-1]) == choices[-1]
    assert choose((budgets[1] + budgets[2]) / 2) == choices[1]


def test_the_reason_why_it_is_too_early_is_that_of_select(store: pb.Store, tmp_path: Path):
    rows = [(name, k, 1, y) for k in range(4) for name, y in (("a", 1.0), ("b", 2.0))]
    (tmp_path / "few.csv").write_text(
        "\n".join(["algorithm,instance,t,y", *(",".join(map(str, row)) for row in rows)])
    )
    few = pb.import_data(tmp_path / "few.csv", tmp_path / "few")
    for source in (store, few):
        source.export("chooser", tmp_path / "c.json", preference="final", force=True)
        facts = json.loads((tmp_path / "c.json").read_text())
        assert facts["too_early"] == source.select("final").too_early
    assert "problems" in facts["too_early"]
