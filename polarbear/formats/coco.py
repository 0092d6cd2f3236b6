"""Folders of COCO, as its observer writes them for suites with one objective.

An .info file for each function has a line of settings for each dimension, a comment, and the data
file with the instances of its runs:

    suite = 'bbob', funcId = 1, DIM = 2, algId = 'random search'
    %
    data_f1/bbobexp_f1_DIM2.dat, 1:200|1.6e-01, 2:200|3.6e-02

A .dat file has the points at which targets were hit, a .tdat file those at fixed numbers of
evaluations; together they are the trajectory, as far as COCO records it. The third column is the
best noise-free value minus the optimum, so the optimum of imported values is 0.
"""

import re
from pathlib import Path

from polarbear.errors import ExportFailedError, ImportFailedError
from polarbear.formats import base
from polarbear.formats.numbered_runs import (
    NOTHING_FOUND,
    NumberedRun,
    add_run,
    data_file,
    numbered_runs,
    read_blocks,
)
from polarbear.formats.transfer import file_names
from polarbear.store import StoreOnDisk
from polarbear.wording import counted

TOOL = "COCO"
SETTING = re.compile(r"""(\w+)\s*=\s*(?:'([^']*)'|"([^"]*)"|([^,\s]+))""")
COLUMNS = (0, 2)  # evaluations, value
NOTES = (
    "COCO records some points only: an improvement may have come earlier than it seems",
    "values are distances to the optimum, which is 0",
)
HEADER = (
    "% f evaluations | g evaluations | best noise-free fitness - Fopt (0.000000000000e+00) + sum "
    "g_i+ | measured fitness | best measured fitness or single-digit g-values\n"
)
PRECISION = 1e-8


class Coco(base.Format):
    """A folder that COCO's observer wrote."""

    after_end: base.AfterEnd = base.AFTER_END

    def read(self, source: Path) -> base.Imported:
        descriptions = base.files_in(source, TOOL, "*.info")
        present = set(source.rglob("*dat"))
        runs = base.RunCollection(source)
        for path in descriptions:
            settings: dict[str, str] = {}
            for line in base.read_lines(path):
                if re.search(r"\bfuncId\s*=", line):
                    settings = {key: a or b or c for key, a, b, c in SETTING.findall(line)}
                elif line and not line.startswith("%"):
                    _add_runs(path, settings, line, present, runs)
        return runs.imported(False, self.after_end, NOTES)


def _add_runs(
    path: Path, settings: dict[str, str], line: str, present: set[Path], runs: base.RunCollection
) -> None:
    """Add the runs that a line below its settings names: the data file, then the instances.

    ``present`` are all data files of the source.
    """
    if "biobj" in settings.get("suite", ""):
        raise ImportFailedError(
            f"{path} has two objectives; only single-objective runs can be ranked"
        )
    function, dimension = settings.get("funcId"), settings.get("DIM", "")
    algorithm = settings.get("algId")
    if not (function and algorithm and dimension.isdecimal()):
        raise ImportFailedError(f"{path} is not written by {TOOL}: {line[:80]!r}")
    name, *described = (part.strip() for part in line.split(","))
    data = data_file(path, name)
    instances = [run.partition(":")[0].strip() for run in described if run]
    files = [one for one in (data, data.with_name(f"{data.stem}.tdat")) if one in present]
    blocks = [read_blocks(one, "%", COLUMNS, len(instances), runs.rejected) for one in files]
    for instance, parts in zip(instances, zip(*blocks, strict=False), strict=False):
        points = [point for part in parts for point in part]
        add_run(runs, algorithm, (function, dimension, instance), points, has_optimum_zero=True)


class CocoExport(base.Export):
    """A folder for cocopp: distances to the optimum, with all digits."""

    optimum: float | None = base.OPTIMUM_OPTION

    def write(self, store: StoreOnDisk, algorithms: tuple[str, ...], place: Path) -> base.Written:
        found = numbered_runs(store, algorithms, TOOL, self.optimum)
        if found.maximise:
            raise ExportFailedError("COCO's functions are minimised: use --format ioh")
        if not found.are_distances:
            raise ExportFailedError(
                "COCO needs distances to the best possible value, which is unknown: add "
                "--set optimum=VALUE"
            )
        lacking = [run.name for run in found.runs if run.dimension < 1]
        if lacking:
            raise ExportFailedError(
                f"COCO needs the number of variables of every function; that of '{lacking[0]}' in "
                f"{store.path} is unknown: use --format ioh"
            )
        for algorithm, folder in file_names(algorithms).items():
            for parts in found.by_function(algorithm):
                _write_function(place / folder, algorithm, parts)
        notes = found.notes
        if any("'" in name for name in algorithms):
            notes = (*notes, "the sign ' in names of algorithms is written as ’")
        return base.Written(counted(len(found.runs), "run"), notes)


def _write_function(folder: Path, algorithm: str, parts: dict[int, list[NumberedRun]]) -> None:
    number = next(iter(parts.values()))[0].function
    (folder / f"data_f{number}").mkdir(parents=True, exist_ok=True)
    name = algorithm.replace("'", "’").replace("\n", " ")
    lines = []
    for dimension, runs in parts.items():
        path = f"data_f{number}/bbobexp_f{number}_DIM{dimension}"
        points = "".join(map(_block, runs))
        for ending in ("dat", "tdat"):
            (folder / f"{path}.{ending}").write_text(points, encoding="utf-8")
        ends = ", ".join(f"{run.instance}:{run.reached}|{run.y[-1]:.1e}" for run in runs)
        lines += [
            f"suite = 'bbob', funcId = {number}, DIM = {dimension}, "
            f"Precision = {PRECISION:.3e}, algId = '{name}', logger = 'bbob', "
            "data_format = 'bbob-new2', coco_version = '2.8'\n",
            "% written by PolarBear\n",
            f"{path}.dat, {ends}\n",
        ]
    (folder / f"bbobexp_f{number}.info").write_text("".join(lines), encoding="utf-8")


def _block(run: NumberedRun) -> str:
    rows = (f"{t:.0f} 0 {y!r} {y!r} {y!r}\n" for t, y in run.points(NOTHING_FOUND))
    return HEADER + "".join(rows)
