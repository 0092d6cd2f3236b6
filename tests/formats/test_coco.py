"""Folders of COCO, in the form its observer writes."""

from pathlib import Path

import pytest

import polarbear as pb
from polarbear.errors import ImportFailedError
from polarbear.formats.coco import Coco

HEAD = (
    "% f evaluations | g evaluations | best noise-free fitness - Fopt (7.948e+01) + sum g_i+ | "
    "measured fitness | best measured fitness or single-digit g-values | x1 | x2...\n"
)
INFO = (
    "suite = 'bbob', funcId = 1, DIM = 2, Precision = 1.000e-08, algId = '{algorithm}', "
    "coco_version = '2.8.2', logger = 'bbob', data_format = 'bbob-new2', settings = ''\n"
    "% \n"
    "data_f1/bbobexp_f1_DIM2.dat, 1:200|1.6e-01, 2:200|3.6e-02"
)
DAT = (
    HEAD + "1 0 +7.688733605e+00 +8.716e+01 +8.716e+01 -2.38e+00 -2.01e+00\n"
    "120 0 +1.611300489e-01 +7.96e+01 +7.96e+01 +2.63e-01 -7.55e-01\n"
    "200 0 +1.611300489e-01 +7.96e+01 +7.96e+01 +2.63e-01 -7.55e-01\n"
    + HEAD
    + "1 0 +5.605031535e+01 +4.505e+02 +4.505e+02 +2.37e+00 +1.19e+00\n"
)
TDAT = (
    HEAD + "1 0 +7.688733605e+00 +8.716e+01 +8.716e+01 -2.38e+00 -2.01e+00\n"
    "50 0 +7.500000000e+00 +9.637e+01 +8.716e+01 +3.14e+00 -4.08e+00\n"
    + HEAD
    + "7 0 +3.464060235e+01 +4.29e+02 +4.29e+02 +1.88e+00 -3.95e+00\n"
)


def folder_of(root: Path, algorithm: str = "RS") -> Path:
    folder = root / algorithm
    (folder / "data_f1").mkdir(parents=True)
    (folder / "bbobexp_f1.info").write_text(INFO.format(algorithm=algorithm))
    (folder / "data_f1" / "bbobexp_f1_DIM2.dat").write_text(DAT)
    (folder / "data_f1" / "bbobexp_f1_DIM2.tdat").write_text(TDAT)
    return folder


def test_points_of_both_files_make_one_trajectory(tmp_path: Path):
    folder_of(tmp_path)
    imported = Coco().read(tmp_path)
    runs = {o.task.instance.id: o for o in imported.outcomes}
    assert set(runs) == {"f1-d2-i1#1", "f1-d2-i2#1"}
    assert runs["f1-d2-i1#1"].times.tolist() == [1, 50, 120]
    assert runs["f1-d2-i1#1"].values.tolist() == [7.688733605, 7.5, 0.1611300489]
    assert runs["f1-d2-i1#1"].reached == 200
    assert runs["f1-d2-i2#1"].times.tolist() == [1, 7]
    expected = {"function": 1, "dimension": 2, "instance": 1, "optimum": 0.0}
    assert runs["f1-d2-i1#1"].task.instance.spec.items() >= expected.items()


def test_the_older_format_with_backslashes_is_read(tmp_path: Path):
    folder = folder_of(tmp_path)
    (folder / "bbobexp_f1.info").write_text(
        "funcId = 1, DIM = 2, Precision = 1.000e-08, algId = 'old one'\n% comment\n"
        "data_f1\\bbobexp_f1_DIM2.dat, 1:200|1.6e-01, 2:200|3.6e-02\n"
    )
    assert Coco().read(tmp_path).algorithms == ("old one",)


def test_runs_that_are_missing_are_complained_about(tmp_path: Path):
    folder = folder_of(tmp_path)
    (folder / "data_f1" / "bbobexp_f1_DIM2.dat").write_text(DAT[: DAT.index(HEAD, 10)] + "x y z\n")
    reasons = {c.reason for c in Coco().read(tmp_path).rejected}
    assert "2 runs are described but 1 is there" in reasons
    assert "the row is not a number of evaluations and a value" in reasons


def test_a_folder_that_is_not_of_coco_is_refused(tmp_path: Path):
    (tmp_path / "x.info").write_text("hello\n")
    with pytest.raises(ImportFailedError, match="is not written by COCO"):
        Coco().read(tmp_path)
    (tmp_path / "x.info").write_text(
        "suite = 'bbob-biobj', funcId = 1, DIM = 2, algId = 'A'\n%\ndata/f.dat, 1:2|3\n"
    )
    with pytest.raises(ImportFailedError, match="two objectives"):
        Coco().read(tmp_path)


def test_archives_of_two_objectives_are_fronts(tmp_path: Path):
    (tmp_path / "rs.info").write_text(
        "suite = 'bbob-biobj', algorithm = 'rs', indicator = 'hyp', folder = 'x'\n"
        "%\nfunction =  1, dim =  2, bbob-biobj_f01_d02_hyp.dat, 2:60|3.3e+01\n"
    )
    archive = tmp_path / "archive"
    archive.mkdir()
    (archive / "bbob-biobj_f01_i02_d02_nondom_all.adat").write_text(
        "% instance = 2, name = bbob_f001_i03_d02__bbob_f001_i05_d02\n"
        "% function evaluation | 2 objectives | 2 variables\n"
        "1\t4.0\t5.0\t1.7\t6.7\t\n"
        "3\t5.0\t4.0\t1.7\t6.7\t\n"
        "oops\n"
        "8\t3.0\t3.0\t1.7\t6.7\t\n"
        "% evaluations = 60\n"
    )
    store = pb.import_data(tmp_path, tmp_path / "store", format="coco")
    rows = store.trajectories().drop_nulls().select("instance", "t", "y1", "y2").rows()
    assert rows == [("f1-d2-i2", 1, 4, 5), ("f1-d2-i2", 3, 5, 4), ("f1-d2-i2", 8, 3, 3)]
    assert store.runs()["reached"].to_list() == [60]
    assert store.algorithms == ("rs",)
