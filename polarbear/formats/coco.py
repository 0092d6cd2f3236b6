"""Folders of COCO, as its observer writes them for suites with one objective.

Those with two objectives are read by `coco_archives`.

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
from typing import ClassVar

from polarbear.errors import ExportFailedError, ImportFailedError
from polarbear.formats import base, limits
from polarbear.formats.coco_archives import has_two_objectives, read_archives
from polarbear.formats.numbered_runs import (
    NOTHING_FOUND,
    STOPPED_ON_PURPOSE,
    NumberedRun,
    add_run,
    data_file,
    numbered_runs,
    read_blocks,
)
from polarbear.formats.transfer import file_names
from polarbear.settings.enumerations import AfterEnd
from polarbear.store import StoreOnDisk
from polarbear.wording import counted

TOOL = "COCO"
WRITTEN_BY = "written by PolarBear; "
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

    after_end: AfterEnd = base.AFTER_END

    def read(self, source: Path) -> base.Imported:
        descriptions = base.files_in(source, TOOL, "*.info")
        present = {path for path in source.rglob("*dat") if path.is_file()}
        limits.check_text_files([*descriptions, *present], source)
        archived = [path for path in descriptions if has_two_objectives(path)]
        if archived:
            if len(archived) < len(descriptions):
                raise ImportFailedError(
                    f"some runs in {source} have two objectives and some have one: import their "
                    "folders into different stores"
                )
            return read_archives(source, archived, self.after_end)
        runs = base.RunCollection(source)
        notes_of_files: dict[str, None] = {}
        for path in descriptions:
            settings: dict[str, str] = {}
            for line in base.read_lines(path):
                if re.search(r"\bfuncId\s*=", line):
                    settings = {key: a or b or c for key, a, b, c in SETTING.findall(line)}
                elif line.endswith(STOPPED_ON_PURPOSE):
                    notes_of_files[line.partition(WRITTEN_BY)[2]] = None
                elif line and not line.startswith("%"):
                    _add_runs(path, settings, line, present, runs)
        return runs.imported(False, self.after_end, (*NOTES, *notes_of_files))


def _add_runs(
    path: Path, settings: dict[str, str], line: str, present: set[Path], runs: base.RunCollection
) -> None:
    """Add the runs of a line of the description, which names a data file and its instances.

    ``settings`` are those of the line above it; ``present`` are all data files of the source.
    """
    function = settings.get("funcId")
    dimension = settings.get("DIM", "")
    algorithm = settings.get("algId")
    if not (function and algorithm and dimension.isdecimal()):
        raise ImportFailedError(f"{path} is not written by {TOOL}: {line[:80]!r}")
    columns = [column.strip() for column in line.split(",")]
    name = columns[0]
    described = columns[1:]
    by_target = data_file(path, name)
    by_time = by_target.with_name(f"{by_target.stem}.tdat")
    instances = [run.partition(":")[0].strip() for run in described if run]
    blocks_of_files = [
        read_blocks(file, "%", COLUMNS, len(instances), runs)
        for file in (by_target, by_time)
        if file in present
    ]
    runs_of_files = zip(*blocks_of_files, strict=False)
    for instance, blocks in zip(instances, runs_of_files, strict=False):
        points = [point for block in blocks for point in block]
        add_run(runs, algorithm, (function, dimension, instance), points, has_optimum_zero=True)


class CocoExport(base.Export):
    """A folder for cocopp: distances to the optimum, with all digits."""

    read_by: ClassVar[str] = "cocopp; `import --format coco`"

    optimum: float | None = base.OPTIMUM_OPTION

    def write(self, store: StoreOnDisk, algorithms: tuple[str, ...], path: Path) -> base.Written:
        exported = numbered_runs(store, algorithms, TOOL, self.optimum)
        if exported.maximise:
            raise ExportFailedError("COCO's functions are minimised: use --format ioh")
        if not exported.are_distances:
            raise ExportFailedError(
                "COCO needs distances to the best possible value, which is unknown: add "
                "--set optimum=VALUE"
            )
        without_dimension = [run.name for run in exported.runs if run.dimension < 1]
        if without_dimension:
            raise ExportFailedError(
                "COCO needs the number of variables of every function; that of "
                f"'{without_dimension[0]}' in {store.path} is unknown: use --format ioh"
            )
        for algorithm, folder in file_names(algorithms).items():
            for runs_by_dimension in exported.by_function(algorithm):
                _write_function(path / folder, algorithm, runs_by_dimension, exported.stopped)
        notes = exported.notes
        if any("'" in name for name in algorithms):
            notes = (*notes, "the sign ' in names of algorithms is written as ’")
        return base.Written(counted(len(exported.runs), "run"), notes)


def _write_function(
    folder: Path, algorithm: str, runs_by_dimension: dict[int, list[NumberedRun]], stopped: str
) -> None:
    """Write the runs on one function; the comment is the same for all, as cocopp needs."""
    number = next(iter(runs_by_dimension.values()))[0].function
    (folder / f"data_f{number}").mkdir(parents=True, exist_ok=True)
    name = algorithm.replace("'", "’").replace("\n", " ")
    lines = []
    for dimension, runs in runs_by_dimension.items():
        path = f"data_f{number}/bbobexp_f{number}_DIM{dimension}"
        points = "".join(map(_block, runs))
        for ending in ("dat", "tdat"):
            (folder / f"{path}.{ending}").write_text(points, encoding="utf-8")
        ends = ", ".join(f"{run.instance}:{run.reached}|{run.y[-1]:.1e}" for run in runs)
        lines += [
            f"suite = 'bbob', funcId = {number}, DIM = {dimension}, "
            f"Precision = {PRECISION:.3e}, algId = '{name}', logger = 'bbob', "
            "data_format = 'bbob-new2', coco_version = '2.8'\n",
            f"% {WRITTEN_BY}{stopped}\n",
            f"{path}.dat, {ends}\n",
        ]
    (folder / f"bbobexp_f{number}.info").write_text("".join(lines), encoding="utf-8")


def _block(run: NumberedRun) -> str:
    rows = (f"{t:.0f} 0 {y!r} {y!r} {y!r}\n" for t, y in run.points(NOTHING_FOUND))
    return HEADER + "".join(rows)
