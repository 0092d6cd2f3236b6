"""The history of a gate over merges, and the test for a slow drift."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from polarbear.api.gating import parsed_tolerance
from polarbear.errors import ConfigError, StoreError
from polarbear.records import Record
from polarbear.regression import history_files, history_report
from polarbear.regression.history_report import SequenceReport
from polarbear.report.figures.figure_files import write_file
from polarbear.settings.decision_levels import (
    DEFAULT_GATE_ALPHA,
    DEFAULT_GATE_TOLERANCE,
    checked_level,
)

__all__ = ["History", "SequenceReport", "history"]


@dataclass(frozen=True, repr=False)
class History(Record):
    """The merges of a history; fields are the keys of `polarbear history --json`."""

    folder: str
    tolerance: float
    alpha: float
    sequences: tuple[SequenceReport, ...]
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    written: tuple[str, ...]
    ROWS = "sequences"
    DERIVED: ClassVar[tuple[str, ...]] = ("is_drift",)

    @property
    def is_drift(self) -> bool:
        """Whether the newest merges of any algorithm are shown to be worse than earlier ones."""
        return any(sequence.is_drift for sequence in self.sequences)

    def one_line(self) -> str:
        return " ".join(self.sentences)


def history(
    folder: str | Path,
    tolerance: float = DEFAULT_GATE_TOLERANCE,
    alpha: float = DEFAULT_GATE_ALPHA,
    svg: str | Path | None = None,
    png: str | Path | None = None,
) -> History:
    """The merges that `gate` has kept in ``folder``, and whether the newest ones show a drift.

    The newest merges are compared with those k = 1, 2, 4, 8, ... merges ago. ``is_drift`` is true
    if a win rate below 0.5 - ``tolerance`` is shown at some time; without drift this happens with a
    probability of at most 1 - ``alpha``, however many merges follow. ``svg`` and ``png`` are files
    for a figure.

    >>> names = {"baseline": "random", "candidate": "powell"}
    >>> pb.gate(config, **names, store="change", history="merges").passes
    True
    >>> pb.history("merges").is_drift
    False
    """
    win_rate_tolerance, longer = parsed_tolerance(tolerance)
    if win_rate_tolerance is None or not 0 <= win_rate_tolerance < 0.5:
        given = f"{100 * longer:g}%" if longer is not None else f"{win_rate_tolerance:g}"
        raise ConfigError(
            "a history keeps values at the times of the grid only, so its tolerance is one of win "
            f"rates, from 0 to below 0.5, found {given}"
        )
    try:
        checked_level(alpha)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    contents = history_files.read(Path(folder))
    if not contents:
        raise StoreError(
            f"{folder} has no merge yet; `polarbear gate CONFIG --history {folder} ...` writes one"
        )
    sequences = history_report.reports(history_files.sequences(contents), win_rate_tolerance, alpha)
    for path, ending in ((svg, "svg"), (png, "png")):
        if path is not None:
            write_file(Path(path), history_report.drawing(sequences, ending))
    return History(
        folder=str(folder),
        tolerance=win_rate_tolerance,
        alpha=alpha,
        sequences=tuple(sequences),
        sentences=tuple(
            history_report.drift_sentence(sequence, win_rate_tolerance, alpha)
            for sequence in sequences
            if sequence.is_newest
        ),
        notes=tuple(history_report.warnings(sequences)),
        written=tuple(str(path) for path in (svg, png) if path is not None),
    )
