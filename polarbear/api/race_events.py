"""Events of a running race, for observers that show its progress."""

from polarbear.driver.race_progress import Account, AlgorithmProgress, RoundStart, UnderWay, Watcher
from polarbear.driver.standings import standings as standings_of
from polarbear.execution.outcome import Outcome
from polarbear.racing import RoundRecord
from polarbear.report.figures.short_names import labels
from polarbear.report.words import curve
from polarbear.report.words import withheld as withheld_words
from polarbear.store import Store as StoreOnDisk

__all__ = [
    "Account",
    "AlgorithmProgress",
    "Outcome",
    "RoundRecord",
    "RoundStart",
    "StoreOnDisk",
    "UnderWay",
    "Watcher",
    "curve",
    "labels",
    "standings_of",
    "withheld_words",
]
