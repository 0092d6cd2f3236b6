"""How a race stands, as an object that shows itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from polarbear.api.showing import Shown, dressed, html_table
from polarbear.driver import standings as driver
from polarbear.errors import RaceError
from polarbear.store import Store as StoreOnDisk
from polarbear.wording import counted, percent, time


@dataclass(frozen=True, repr=False)
class Standings(Shown, driver.Standings):
    """What the rounds of a race have come to; the fields are keys of `race --json`."""

    def to_dict(self) -> dict[str, Any]:
        """What `polarbear status --json` prints of the race."""
        return self.to_plain()

    def _in_a_line(self) -> str:
        return (
            f"{counted(len(self.pareto_set), 'algorithm')} in the anytime Pareto set of "
            f"{len(self.algorithms)}, {percent(self.share_settled)} of pairs settled after "
            f"{counted(self.rounds, 'round')} on {counted(self.instances, 'instance')}"
        )

    def _repr_html_(self) -> str:
        rows = [
            [
                entry.algorithm,
                entry.standing,
                "" if entry.probability is None else f"{entry.probability:.4f}",
                entry.by or "",
                time(entry.spent),
            ]
            for entry in self.algorithms
        ]
        columns = ["algorithm", "standing", "P(dominated)", "by", self.axis]
        return html_table(self._in_a_line(), columns, rows)


def standings(disk: StoreOnDisk) -> Standings:
    """How the race in a store stands; an error where none has been run."""
    found = driver.standings(disk)
    if found is None:
        if disk.races.numbers():
            raise RaceError(f"the race in {disk.path} is to be decided anew; `polarbear race` does")
        raise RaceError(f"no race has been run in {disk.path}; `polarbear race` runs one")
    return dressed(Standings, found)
