"""Folders as COCO's observer writes them, one for each algorithm."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from polarbear.errors import ExportFailedError
from polarbear.exports.base import Export, Written, file_names
from polarbear.exports.numbered import NumberedRun, numbered_runs
from polarbear.formats.blocks import NOTHING_FOUND
from polarbear.store import Store
from polarbear.wording import counted

HEAD = (
    "% f evaluations | g evaluations | best noise-free fitness - Fopt (0.000000000000e+00) + sum "
    "g_i+ | measured fitness | best measured fitness or single-digit g-values\n"
)
PRECISION = 1e-8


class Coco(Export):
    """A folder for cocopp: distances to the optimum, with all digits."""

    optimum: float | None = Field(
        None, description="the best possible value of every instance; by default the suite's"
    )

    def write(self, store: Store, algorithms: tuple[str, ...], place: Path) -> Written:
        found = numbered_runs(store, algorithms, "COCO", self.optimum)
        if not found.distances:
            reason = "which are minimised" if found.maximise else "which is not known here"
            raise ExportFailedError(
                "COCO keeps distances to the best possible value of functions, "
                f"{reason}: {'use --format ioh' if found.maximise else 'give --set optimum=VALUE'}"
            )
        lacking = [run for run in found.runs if run.function.dimension < 1]
        if lacking:
            raise ExportFailedError(
                f"COCO needs the number of variables of every function; that of "
                f"'{lacking[0].function.name}' in {store.path} is not known: use --format ioh"
            )
        notes = list(found.notes)
        if any("'" in name for name in algorithms):
            notes.append("the sign ' in names of algorithms is written as ’")
        folders = file_names(algorithms)
        for algorithm in algorithms:
            for number, parts in found.grouped(algorithm):
                folder, data = place / folders[algorithm], f"data_f{number}"
                (folder / data).mkdir(parents=True, exist_ok=True)
                lines = []
                for function, runs in parts.items():
                    path = f"{data}/bbobexp_f{number}_DIM{function.dimension}"
                    points = "".join(map(_block, runs))
                    for ending in ("dat", "tdat"):
                        (folder / f"{path}.{ending}").write_text(points, encoding="utf-8")
                    lines += _described(algorithm, function.dimension, number, path, runs)
                (folder / f"bbobexp_f{number}.info").write_text("".join(lines), encoding="utf-8")
        return Written(counted(len(found.runs), "run"), tuple(notes))


def _described(
    algorithm: str, dimension: int, number: int, path: str, runs: list[NumberedRun]
) -> list[str]:
    ends = ", ".join(f"{run.instance}:{run.reached}|{run.y[-1]:.1e}" for run in runs)
    name = algorithm.replace("'", "’").replace("\n", " ")
    return [
        f"suite = 'bbob', funcId = {number}, DIM = {dimension}, Precision = {PRECISION:.3e}, "
        f"algId = '{name}', logger = 'bbob', data_format = 'bbob-new2', coco_version = '2.8'\n",
        "% written by PolarBear\n",
        f"{path}.dat, {ends}\n",
    ]


def _block(run: NumberedRun) -> str:
    """The points of a run; readers ask for evaluation 1, even if nothing was found there."""
    points = list(zip(run.t.tolist(), run.y.tolist(), strict=True))
    if run.reached > run.t[-1]:
        points.append((float(run.reached), points[-1][1]))
    if run.t[0] > 1:
        points.insert(0, (1.0, NOTHING_FOUND))
    return HEAD + "".join(f"{t:.0f} 0 {y!r} {y!r} {y!r}\n" for t, y in points)
