"""Folders of COCO, as its observer writes them for suites with one objective.

An .info file for each function describes its runs. A .dat file has the points at which targets were
hit, a .tdat file those at fixed numbers of evaluations; together they are the trajectory, as far as
COCO records it. The third column is the best noise-free value minus the optimum, so the optimum of
imported values is 0.
"""

from __future__ import annotations

from pathlib import Path

from polarbear.errors import ExportFailedError, ImportFailedError
from polarbear.formats.base import (
    AFTER_END,
    OPTIMUM_OPTION,
    AfterEnd,
    Export,
    Format,
    Imported,
    RunCollection,
    Written,
    files_in,
)
from polarbear.formats.numbered_functions import Function, NumberedRun, numbered_runs
from polarbear.formats.run_files import (
    NOTHING_FOUND,
    DataLayout,
    RunGroup,
    problem_name,
    read_blocks,
    read_info,
)
from polarbear.formats.store_export import file_names
from polarbear.problems.specs import OPTIMUM
from polarbear.store import Store
from polarbear.wording import counted

TOOL = "COCO"
LAYOUT = DataLayout("%", t_column=0, y_column=2)
NOTES = (
    "COCO records some points only: an improvement may have come earlier than it seems",
    "values are distances to the optimum, which is 0",
)
HEADER = (
    "% f evaluations | g evaluations | best noise-free fitness - Fopt (0.000000000000e+00) + sum "
    "g_i+ | measured fitness | best measured fitness or single-digit g-values\n"
)
PRECISION = 1e-8


class Coco(Format):
    """A folder that COCO's observer wrote."""

    after_end: AfterEnd = AFTER_END

    def read(self, source: Path) -> Imported:
        descriptions = files_in(source, "*.info")
        if not descriptions:
            raise ImportFailedError(
                f"{source} is not a folder of COCO: there is no .info file in it"
            )
        runs = RunCollection(source)
        for path in descriptions:
            for group in read_info(path, TOOL):
                if "biobj" in group.settings.get("suite", ""):
                    raise ImportFailedError(
                        f"{path} has two objectives; only single-objective runs can be ranked"
                    )
                _add_runs(group, runs)
        return runs.imported(False, self.after_end, NOTES)


def _add_runs(group: RunGroup, runs: RunCollection) -> None:
    files = [group.data, group.data.with_name(f"{group.data.stem}.tdat")]
    number = len(group.instances)
    blocks = [read_blocks(path, LAYOUT, number, runs.rejected) for path in files if _exists(path)]
    for instance, parts in zip(group.instances, zip(*blocks, strict=False), strict=False):
        facts = group.facts(instance)
        points = [point for part in parts for point in part]
        runs.add(group.algorithm, problem_name(facts), points, {**facts, OPTIMUM: 0.0})


def _exists(path: Path) -> bool:
    """Whether there is such a file; an .info file may name one that cannot exist."""
    try:
        return path.exists()
    except OSError:  # the name is too long
        return False


class CocoExport(Export):
    """A folder for cocopp: distances to the optimum, with all digits."""

    optimum: float | None = OPTIMUM_OPTION

    def write(self, store: Store, algorithms: tuple[str, ...], place: Path) -> Written:
        found = numbered_runs(store, algorithms, TOOL, self.optimum)
        if found.maximise:
            raise ExportFailedError("COCO's functions are minimised: use --format ioh")
        if not found.are_distances:
            raise ExportFailedError(
                "COCO needs distances to the best possible value, which is unknown: add "
                "--set optimum=VALUE"
            )
        lacking = [run for run in found.runs if run.function.dimension < 1]
        if lacking:
            raise ExportFailedError(
                f"COCO needs the number of variables of every function; that of "
                f"'{lacking[0].function.name}' in {store.path} is unknown: use --format ioh"
            )
        for algorithm, folder in file_names(algorithms).items():
            for parts in found.by_function(algorithm):
                _write_function(place / folder, algorithm, parts)
        notes = found.notes
        if any("'" in name for name in algorithms):
            notes = (*notes, "the sign ' in names of algorithms is written as ’")
        return Written(counted(len(found.runs), "run"), notes)


def _write_function(folder: Path, algorithm: str, parts: dict[Function, list[NumberedRun]]) -> None:
    number = next(iter(parts)).number
    (folder / f"data_f{number}").mkdir(parents=True, exist_ok=True)
    name = algorithm.replace("'", "’").replace("\n", " ")
    lines = []
    for function, runs in parts.items():
        path = f"data_f{number}/bbobexp_f{number}_DIM{function.dimension}"
        points = "".join(map(_block, runs))
        for ending in ("dat", "tdat"):
            (folder / f"{path}.{ending}").write_text(points, encoding="utf-8")
        ends = ", ".join(f"{run.instance}:{run.reached}|{run.y[-1]:.1e}" for run in runs)
        lines += [
            f"suite = 'bbob', funcId = {number}, DIM = {function.dimension}, "
            f"Precision = {PRECISION:.3e}, algId = '{name}', logger = 'bbob', "
            "data_format = 'bbob-new2', coco_version = '2.8'\n",
            "% written by PolarBear\n",
            f"{path}.dat, {ends}\n",
        ]
    (folder / f"bbobexp_f{number}.info").write_text("".join(lines), encoding="utf-8")


def _block(run: NumberedRun) -> str:
    rows = (f"{t:.0f} 0 {y!r} {y!r} {y!r}\n" for t, y in run.points(NOTHING_FOUND))
    return HEADER + "".join(rows)
