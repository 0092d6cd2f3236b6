"""Job shops, generated integer programs and generated routing problems, as files."""

import re
from pathlib import Path

import numpy as np
import pytest

import polarbear
from polarbear.errors import ConfigError, ProblemError
from polarbear.problems.integer_programs import BinaryProgram, auction
from polarbear.problems.job_shop import Jobs, classical_job_shops
from polarbear.problems.specs import FAMILY
from tests.problems.helpers import SETTING, specs, suite
from tests.support import Project


def test_there_are_162_job_shops_and_every_job_visits_every_machine_once():
    shops = classical_job_shops()
    assert len(shops) == suite("job-shop").size(SETTING) == 162
    for shop in shops.values():
        n_machines = len(shop.jobs.machines[0])
        assert all(sorted(machines) == list(range(n_machines)) for machines in shop.jobs.machines)
        assert [len(job) for job in shop.jobs.durations] == [n_machines] * len(shop.jobs.durations)
        assert shop.lower_bound <= shop.upper_bound


def test_the_makespan_of_a_job_shop_is_known_only_if_its_bounds_meet():
    job_shop = suite("job-shop")
    assert job_shop.best_value({"name": "ft06", FAMILY: "ft"}) == 55
    assert job_shop.best_value({"name": "ta18", FAMILY: "ta"}) is None


def test_job_shops_are_chosen_by_family_and_size():
    chosen = suite("job-shop", families=["la", "swv"], operations={"from": 200, "to": 200})
    names = {chosen.instance(index, SETTING).id for index in range(chosen.size(SETTING))}
    assert names == {f"la{number}" for number in range(26, 31)} | {
        f"swv{number:02}" for number in range(1, 6)
    }
    with pytest.raises(ProblemError, match="no job shop of these families"):
        suite("job-shop", families=["ft"], operations={"from": 500, "to": 600}).size(SETTING)


def test_a_job_shop_file_gives_its_jobs_back_and_another_file_is_refused(tmp_path: Path):
    jobs = classical_job_shops()["ft06"].jobs
    assert Jobs.read(suite("job-shop").build({"name": "ft06"}, SETTING)) == jobs
    for text in ("", "2 2\n0 1 1 2\n", "1 2\n0 1 1\n", "a b\n"):
        (tmp_path / "bad.jsp").write_text(text)
        with pytest.raises(ProblemError, match="job shop"):
            Jobs.read(tmp_path / "bad.jsp")


def test_families_take_turns_so_that_all_are_equally_frequent():
    families = [spec[FAMILY] for spec in specs("mip", 6)]
    assert families == 2 * ["set-cover", "facility-location", "auction"]
    assert {spec[FAMILY] for spec in specs("mip", 4, families=["auction"])} == {"auction"}


def test_another_scale_changes_the_size_of_programs_but_not_their_order():
    small = specs("mip", 9, scale=0.1)
    large = specs("mip", 9, scale=0.2)
    assert [spec["seed"] for spec in small] == [spec["seed"] for spec in large]
    ratios = [b["n"] / a["n"] for a, b in zip(small, large, strict=True)]
    assert ratios == pytest.approx([2.0] * 9, rel=0.1)


def test_a_program_is_written_in_mps_for_fixed_and_for_free_readers():
    program = BinaryProgram()
    first = program.add_row("G", 1)
    second = program.add_row("E", 0)
    program.add_column(7, [(first, 1)])
    program.add_column(-2, [(first, 3), (second, -1)])
    lines = program.mps("two").splitlines()
    assert [line.split() for line in lines] == [
        line.split()
        for line in (
            "NAME two",
            *("ROWS", "N cost", "G r0", "E r1"),
            *("COLUMNS", "MARKER 'MARKER' 'INTORG'"),
            *("x0 cost 7", "x0 r0 1", "x1 cost -2", "x1 r0 3", "x1 r1 -1"),
            *("MARKER 'MARKER' 'INTEND'", "RHS", "rhs r0 1"),
            *("BOUNDS", "BV bound x0", "BV bound x1", "ENDATA"),
        )
    ]
    # CBC reads fixed columns: names begin at the 5th and the 15th, numbers end at the 36th.
    assert "    x1        r0                   3" in lines
    assert " BV bound     x1" in lines


def test_a_bid_names_an_item_at_most_once_and_larger_bundles_cost_more():
    program = auction(np.random.default_rng(1), 20)
    items = [[row for row, _ in column] for column in program.columns]
    assert all(len(set(bundle)) == len(bundle) > 0 for bundle in items)
    sizes = np.array([len(bundle) for bundle in items])
    assert np.corrcoef(sizes, -np.array(program.costs))[0, 1] > 0.5


def test_every_set_of_a_cover_and_every_facility_can_be_used():
    for spec in specs("mip", 2, scale=0.1):
        text = Path(suite("mip").build(spec, SETTING)).read_text()
        rows = set(re.findall(r"^ [GLE] (r\d+)$", text, re.MULTILINE))
        used = set(re.findall(r"^ x\d+ (r\d+) ", text, re.MULTILINE))
        assert rows == used


def test_no_customer_of_a_routing_problem_exceeds_the_capacity_or_the_square():
    for spec in specs("cvrp", 12, customers={"from": 20, "to": 40}):
        text = Path(suite("cvrp").build(spec, SETTING)).read_text()
        capacity = int(re.search(r"CAPACITY : (\d+)", text)[1])
        places, _, demands = text.partition("DEMAND_SECTION")
        coordinates = re.findall(r"^\d+ (\d+) (\d+)$", places, re.MULTILINE)
        amounts = re.findall(r"^\d+ (\d+)$", demands, re.MULTILINE)
        assert len(coordinates) == len(amounts) == spec["customers"] + 1
        assert max(max(map(int, place)) for place in coordinates) <= 1000
        assert int(amounts[0]) == 0
        assert 0 < max(map(int, amounts)) <= capacity


def test_what_cannot_be_generated_is_refused():
    with pytest.raises(ConfigError, match=r"scale"):
        suite("mip", scale=0)
    with pytest.raises(ConfigError, match=r"nothing lies between"):
        suite("cvrp", customers={"from": 9, "to": 3})
    with pytest.raises(ConfigError, match=r"famil"):
        suite("job-shop", families=["xx"])


def test_a_program_receives_a_file_of_which_nothing_is_left(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    temporary = project.folder / "temporary"
    temporary.mkdir()
    prints_size = ["sh", "-c", 'echo 0.01 $(wc -c < "$0")', "{instance}"]
    project.configure(
        algorithms=[{"name": "size", "use": "command", "command": prints_size}],
        instances={"suite": "mip", "scale": 0.05, "count": 3},
        budget={"axis": "seconds", "grid": [0.1, 1]},
    )
    monkeypatch.setenv("TMPDIR", str(temporary))
    Project(project.folder, alone=True).done("run", "config.yaml")
    sizes = polarbear.open(project.store).trajectories()["y"]
    assert sizes.n_unique() == 3
    assert sizes.min() > 100
    assert list(temporary.iterdir()) == []
