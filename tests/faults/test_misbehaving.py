"""Each misbehaving run ends alone, is judged right, and leaves nothing."""

import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from polarbear.config.configuration import Config
from polarbear.execution import process_tree
from polarbear.execution.outcome import Outcome, RunLimits, Status
from polarbear.execution.pool import Pool
from tests.execution.test_pool import configured, tasks
from tests.faults.misbehaving import HANGING, QUICK
from tests.faults.programs import HANGING as HANGING_PROGRAMS
from tests.faults.programs import QUICK as QUICK_PROGRAMS
from tests.faults.programs import command
from tests.support import RANDOM

FILE = Path(__file__).parent / "misbehaving.py"
PATIENT = RunLimits(seconds=120.0, memory=400 * 2**20)
STRICT = RunLimits(seconds=1.0, memory=400 * 2**20)
MAX_LATE_SECONDS = 1.0
GOOD = "good"


@dataclass(frozen=True)
class Aftermath:
    """The outcomes of some algorithms by name, and what was left when all had ended."""

    outcomes: dict[str, list[Outcome]]
    processes: list[psutil.Process]
    files: list[str]
    descriptors: int


def aftermath(config: Config, limits: RunLimits, folder: Path, instances: int) -> Aftermath:
    """Run algorithms among good ones in a pool, and look for what they leave."""
    descriptors = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names are enough
    outcomes: dict[str, list[Outcome]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        with Pool(config.instances, config.setting, 2, limits) as pool:
            scratch = pool._scratch
            assert scratch is not None
            for outcome in pool.run(tasks(config, instances, budget=50)):
                outcomes.setdefault(outcome.task.algorithm.name, []).append(outcome)
    return Aftermath(
        outcomes,
        process_tree.tagged(scratch.tag),
        [path.name for path in folder.iterdir()],
        len(os.listdir("/proc/self/fd")) - descriptors,  # noqa: PTH208
    )


def functions(names: Iterable[str]) -> Config:
    """Algorithms in Python, with a good one."""
    entries = [{"name": name, "use": "python", "function": f"{FILE}:{name}"} for name in names]
    return configured(*entries, {**RANDOM, "name": GOOD}, budget={"grid": [50]})


def programs(scripts: Mapping[str, tuple[str, tuple[str, ...]]]) -> Config:
    """Programs, with a good one."""
    entries = [
        {"name": name, "use": "command", "command": command(script)}
        for name, (script, _) in scripts.items()
    ]
    good = {"name": GOOD, "use": "command", "command": command("echo 2 4; echo 60 3")}
    suite = {"suite": "files", "names": ["first", "second"]}
    return configured(*entries, good, budget={"grid": [50]}, instances=suite)


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Aftermath:
    return aftermath(functions(QUICK), PATIENT, tmp_path_factory.mktemp("quick"), instances=2)


@pytest.fixture(scope="module")
def hanging(tmp_path_factory: pytest.TempPathFactory) -> Aftermath:
    return aftermath(functions(HANGING), STRICT, tmp_path_factory.mktemp("hanging"), instances=1)


@pytest.fixture(scope="module")
def quick_programs(tmp_path_factory: pytest.TempPathFactory) -> Aftermath:
    config = programs(QUICK_PROGRAMS)
    return aftermath(config, PATIENT, tmp_path_factory.mktemp("programs"), instances=2)


@pytest.fixture(scope="module")
def hanging_programs(tmp_path_factory: pytest.TempPathFactory) -> Aftermath:
    config = programs(HANGING_PROGRAMS)
    return aftermath(config, STRICT, tmp_path_factory.mktemp("programs"), instances=1)


def check_alone(aftermath: Aftermath) -> None:
    """The good algorithm is not affected, and nothing is left."""
    for outcome in aftermath.outcomes[GOOD]:
        assert outcome.status is Status.BUDGET
    assert aftermath.processes == []
    assert aftermath.files == []
    assert aftermath.descriptors == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_a_run_that_misbehaves_is_judged_right(name: str, quick: Aftermath):
    for outcome in quick.outcomes[name]:
        assert outcome.status.value in QUICK[name], outcome.message
        assert len(outcome.values) >= 1
        assert outcome.seconds < 30.0


@pytest.mark.slow
@pytest.mark.parametrize("name", HANGING)
def test_a_run_that_hangs_is_ended_within_a_second_of_its_limit(name: str, hanging: Aftermath):
    for outcome in hanging.outcomes[name]:
        assert outcome.status.value in HANGING[name], outcome.message
        assert len(outcome.values) >= 1
        assert outcome.seconds < STRICT.seconds + MAX_LATE_SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK_PROGRAMS)
def test_a_program_that_misbehaves_is_judged_right(name: str, quick_programs: Aftermath):
    for outcome in quick_programs.outcomes[name]:
        assert outcome.status.value in QUICK_PROGRAMS[name][1], outcome.message
        assert outcome.values.tolist()[:1] == [5.0]
        assert outcome.seconds < 30.0


@pytest.mark.slow
@pytest.mark.parametrize("name", HANGING_PROGRAMS)
def test_a_program_that_hangs_is_ended_within_a_second_of_its_limit(
    name: str, hanging_programs: Aftermath
):
    for outcome in hanging_programs.outcomes[name]:
        assert outcome.status.value in HANGING_PROGRAMS[name][1], outcome.message
        assert outcome.values.tolist() == [5.0]
        assert outcome.seconds < STRICT.seconds + MAX_LATE_SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("group", ["quick", "hanging", "quick_programs", "hanging_programs"])
def test_misbehaving_runs_affect_no_other_run_and_leave_nothing(group, request):
    check_alone(request.getfixturevalue(group))
