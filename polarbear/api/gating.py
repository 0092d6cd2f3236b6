"""The check of a change against a baseline."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from polarbear.api import configurations
from polarbear.api.configurations import ConfigLike
from polarbear.api.listening import Listener, Progress
from polarbear.api.store_handle import Store
from polarbear.config.configuration import Overrides
from polarbear.errors import ConfigError
from polarbear.facts.time_factors import TimeFactor
from polarbear.records import Record
from polarbear.regression import gate_comment, gate_report, history_files
from polarbear.regression.detectable import Detectable
from polarbear.regression.gate_decision import GateVerdict
from polarbear.regression.gate_run import GateOptions, PairVerdict
from polarbear.regression.gate_run import gate as run_gate
from polarbear.regression.history_files import MergeResult
from polarbear.regression.version_pairs import pairs_of
from polarbear.report.figures.figure_files import write_file
from polarbear.settings.decision_levels import DEFAULT_GATE_ALPHA, DEFAULT_GATE_TOLERANCE
from polarbear.store import StoreOnDisk
from polarbear.wording import counted, duration

__all__ = ["Gated", "gate"]
SEVERITY = tuple(GateVerdict)


@dataclass(frozen=True, repr=False)
class Gated(Record):
    """The verdict on all pairs, and on each; fields are the keys of `polarbear gate --json`."""

    verdict: GateVerdict
    tolerance: float | None
    longer: float | None
    alpha: float
    pairs: tuple[PairVerdict, ...]
    sentences: tuple[str, ...]
    runs: int
    cached: int
    seconds: float
    written: tuple[str, ...]
    undecided: str
    ROWS = "pairs"
    DERIVED: ClassVar[tuple[str, ...]] = (
        *("passes", "worse_at", "problems", "p_worse", "detectable", "times_as_long"),
    )

    @property
    def passes(self) -> bool:
        """Whether no pair is worse, nor undecided if that fails."""
        if self.verdict is GateVerdict.UNDECIDED:
            return self.undecided == "pass"
        return self.verdict is not GateVerdict.WORSE

    @property
    def decisive(self) -> PairVerdict:
        """The first pair with the worst verdict, whose evidence is that of the gate."""
        return next(pair for pair in self.pairs if pair.verdict is self.verdict)

    @property
    def worse_at(self) -> list[list[float]]:
        return self.decisive.worse_at

    @property
    def problems(self) -> int:
        return self.decisive.problems

    @property
    def p_worse(self) -> float:
        return self.decisive.p_worse

    @property
    def detectable(self) -> Detectable | None:
        return self.decisive.detectable

    @property
    def times_as_long(self) -> tuple[TimeFactor, ...]:
        return self.decisive.times_as_long

    @property
    def cost(self) -> str:
        """The number of runs and the time they took, in words."""
        return f"{counted(self.runs, 'run')} in {duration(self.seconds)}, {self.cached} used again."

    def one_line(self) -> str:
        return f"{self.verdict.words}; {' '.join(self.sentences)}"


def gate(
    *configs: ConfigLike,
    baseline: str,
    candidate: str,
    tolerance: float | str = DEFAULT_GATE_TOLERANCE,
    alpha: float = DEFAULT_GATE_ALPHA,
    store: str | Path | None = None,
    instances: int | None = None,
    minutes: float | None = None,
    failures: str = "worse",
    undecided: str = "pass",
    workers: int | None = None,
    seed: int | None = None,
    markdown: str | Path | None = None,
    svg: str | Path | None = None,
    junit: str | Path | None = None,
    html: str | Path | None = None,
    history: str | Path | None = None,
    listener: Listener | None = None,
) -> Gated:
    """Decide whether the candidate is worse than the baseline, at any time within the budget.

    There may be one of ``configs`` per suite; the ``store`` is that of `race`. ``baseline`` and
    ``candidate`` name two algorithms, or two groups ``main/x`` and ``branch/x``.
    Stored runs of code that has not changed are not repeated. The verdict is "no worse" if a win
    rate of at least 0.5 - ``tolerance`` is shown at every time at level ``alpha``, "better" if it
    is also above one half at some time, and "worse" if it is shown to be below 0.5 - ``tolerance``
    at some time or, unless ``failures`` is "ranked", if the candidate fails where the baseline does
    not. A ``tolerance`` like "10%" is one in time: "worse" then means that the candidate loses
    although it has 10 % more time than the baseline. At most ``instances`` are used, or as
    many as fit into a number of ``minutes``. Otherwise the verdict is "undecided": no regression is
    shown, and ``detectable`` says which one would have been. ``undecided`` is "pass" or "fail", the
    meaning of that verdict. The comment ``markdown``, the figure ``svg``, the test report ``junit``
    and the page ``html`` are files. The folder ``history`` keeps the values of the candidate for
    `history`. ``workers``, ``seed`` and ``listener`` are those of `race`.

    >>> pb.gate(config, baseline="random", candidate="powell", store="change").verdict.value
    'better'
    """
    listener = listener or Progress()
    win_rate_tolerance, longer = parsed_tolerance(tolerance)
    options = GateOptions(
        baseline=baseline,
        candidate=candidate,
        tolerance=win_rate_tolerance,
        alpha=alpha,
        limit=instances,
        failures=failures,
        undecided=undecided,
        longer=longer,
        minutes=minutes,
        keeps_values=history is not None,
    )
    if history is not None and Path(history).exists() and not Path(history).is_dir():
        raise ConfigError(f"--history names a folder, but {history} is a file")
    if store is not None and len(configs) > 1:
        raise ConfigError("--store names the store of one configuration, but there are several")
    # Both versions have the same seeds, unless a configuration says otherwise.
    overrides = Overrides(seed, workers)
    settings = [configurations.read(config, overrides, store, seeds="common") for config in configs]
    n_pairs = 0
    for parsed_config in settings:
        names = [algorithm.name for algorithm in parsed_config.algorithms]
        n_pairs += len(pairs_of(names, baseline, candidate))
    folders = [configurations.store_folder(config, store) for config in configs]
    begun = time.monotonic()
    pairs: list[PairVerdict] = []
    values: list[MergeResult] = []
    runs = 0
    cached = 0
    for parsed_config, folder in zip(settings, folders, strict=True):
        gate_run = run_gate(parsed_config, folder, options, n_pairs, listener.note, listener.runs)
        pairs += gate_run.pairs
        values += gate_run.values
        runs += gate_run.executed
        cached += gate_run.reused
    files = [svg, markdown, junit, html]
    if history is not None:
        merge = history_files.merge_of(Path(settings[0].folder))
        files.append(history_files.write(Path(history), merge, values))
    verdict = max((pair.verdict for pair in pairs), key=SEVERITY.index)
    gated = Gated(
        verdict=verdict,
        tolerance=options.tolerance,
        longer=options.longer,
        alpha=alpha,
        pairs=tuple(pairs),
        sentences=tuple(text for pair in pairs for text in gate_report.sentences(pair, options)),
        runs=runs,
        cached=cached,
        seconds=time.monotonic() - begun,
        written=tuple(str(path) for path in files if path is not None),
        undecided=undecided,
    )
    if svg is not None:
        write_file(Path(svg), gate_report.drawing(pairs, options))
    if markdown is not None:
        comment = gate_comment.markdown(pairs, options, verdict, gated.cost)
        write_file(Path(markdown), comment.encode())
    if junit is not None:
        write_file(Path(junit), gate_comment.junit(pairs, options))
    if html is not None:
        first_store = Store(StoreOnDisk.open(folders[0]))
        first_store.infer()
        first_store.report(html, force=True)
    return gated


def parsed_tolerance(tolerance: float | str) -> tuple[float | None, float | None]:
    """The tolerance of win rates, or the one in time, which ends in %; the other one is None."""
    text = str(tolerance).strip()
    number = text.removesuffix("%").strip()
    try:
        value = float(number)
    except ValueError:
        raise ConfigError(
            f"a tolerance is a number like {DEFAULT_GATE_TOLERANCE:g}, or a share of time like "
            f"10%, found '{text}'"
        ) from None
    return (None, value / 100) if text.endswith("%") else (value, None)
