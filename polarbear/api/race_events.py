"""Events of a running race, for observers that show its progress."""

from polarbear.driver.progress import Pace, RoundClock, Watcher
from polarbear.execution.outcome import Outcome, Task
from polarbear.racing import RoundRecord, State
from polarbear.report.words import withheld as withheld_words
from polarbear.store import Store as StoreOnDisk

__all__ = [
    "Outcome",
    "Pace",
    "RoundClock",
    "RoundRecord",
    "State",
    "StoreOnDisk",
    "Task",
    "Watcher",
    "withheld_words",
]
