"""IOHprofiler's older folders, made as its documentation describes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from polarbear.errors import ImportFailedError
from polarbear.formats.ioh import Ioh

HEAD = (
    '"function evaluation" "current f(x)" "best-so-far f(x)" "current af(x)+b" "best af(x)+b" "p"\n'
)
DAT = (
    HEAD + "1  +2.95e+02  +2.95e+02  +2.95e+02  +2.95e+02  0.0\n"
    "4  +1.0e+02  +2.95e+02  +1.0e+02  +2.95e+02  0.2\n"
    "9  +3.11e+02  +3.11e+02  +3.11e+02  +3.11e+02  0.0\n"
    + HEAD
    + "1\t+3.2e+02\t+3.2e+02\t+3.2e+02\t+3.2e+02\t1.0\n60 0 +3.64e+02 0 0 3.0\n"
)
INFO = (
    "suite = 'PBO', funcId = 10, DIM = 100, algId = '(1+1) fGA'\n%\n"
    "data_f10/IOHprofiler_f10_DIM100.dat, 1:9|3.11e+02,\n1:60|3.64e+02\n"
)


def folder_of(root: Path, info: str = INFO, dat: str = DAT) -> Path:
    (root / "data_f10").mkdir(parents=True)
    (root / "IOHprofiler_f10.info").write_text(info)
    (root / "data_f10" / "IOHprofiler_f10_DIM100.dat").write_text(dat)
    return root


def test_best_values_so_far_become_runs(tmp_path: Path):
    found = Ioh().read(folder_of(tmp_path))
    assert found.algorithms == ("(1+1) fGA",)
    assert found.maximise  # the best value grows
    runs = {run.task.instance.id: run for run in found.outcomes}
    assert set(runs) == {"f10-d100-i1#1", "f10-d100-i1#2"}
    assert runs["f10-d100-i1#1"].times.tolist() == [1, 9]
    assert runs["f10-d100-i1#1"].values.tolist() == [-295, -311]
    assert runs["f10-d100-i1#2"].reached == 60
    assert found.notes == ("4 attributes ignored: current f(x), current af(x)+b, best af(x)+b, p",)


def test_two_columns_are_enough_and_falling_values_are_minimised(tmp_path: Path):
    dat = '"function evaluation" "best-so-far f(x)"\n1 5.0\n7 2.5\n'
    info = (
        'suite = "x", funcId = 10, DIM = 100, algId = "A"\n%\n'
        "data_f10/IOHprofiler_f10_DIM100.dat, 3:7|2.5\n"
    )
    found = Ioh().read(folder_of(tmp_path, info, dat))
    assert not found.maximise
    assert found.outcomes[0].values.tolist() == [5, 2.5]
    spec = found.instances[0].spec
    assert (spec["function"], spec["dimension"], spec["instance"]) == (10, 100, 3)


def test_a_stated_direction_counts(tmp_path: Path):
    info = INFO.replace("DIM =", 'maximization = "F", DIM =')
    assert not Ioh().read(folder_of(tmp_path, info)).maximise


@pytest.mark.parametrize(
    ("info", "dat", "words"),
    [
        ("hello\n", DAT, "is not written by IOHprofiler"),
        (INFO.replace("DIM", "dim"), DAT, "is not written by IOHprofiler"),
        (INFO.split("%")[0], DAT, "is not written by IOHprofiler"),
        (INFO, "1 2 3\n", "best-so-far f.x.' are needed"),
        (INFO, "", "best-so-far f.x.' are needed"),
        (INFO.replace("data_f10", "elsewhere"), DAT, "cannot read"),
        (INFO, HEAD, "no run in .* has a valid row"),
    ],
)
def test_what_is_damaged_is_refused_in_a_line(info: str, dat: str, words: str, tmp_path: Path):
    with pytest.raises(ImportFailedError, match=words) as error:
        Ioh().read(folder_of(tmp_path, info, dat))
    assert "\n" not in str(error.value)
