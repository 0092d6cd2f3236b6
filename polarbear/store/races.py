"""Past races of a store: their rounds are kept next to those of the current one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from polarbear.errors import StoreError
from polarbear.store import files
from polarbear.store.catalog import Catalog, File, json_file
from polarbear.store.rounds import Rounds

if TYPE_CHECKING:
    from polarbear.config import PlainConfig

ABOUT = "race.json"


class PastRace(NamedTuple):
    """The end of a past race: when, why, and its result."""

    race: int
    ended: str
    because: tuple[str, ...]
    rounds: int
    instances: int
    pareto_set: tuple[str, ...]


@dataclass(frozen=True)
class RaceEnd:
    """The content of ``race.json``: when and why a race ended, and its configuration."""

    race: int
    ended: str
    because: list[str]
    config: PlainConfig

    def file(self) -> File:
        return json_file(f"{folder_of(self.race)}/{ABOUT}", asdict(self))


def folder_of(race: int) -> str:
    return f"races/race-{race:04}"


class Races:
    """The folder ``races/`` of a store: one folder per past race, each like ``rounds/``."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def numbers(self) -> list[int]:
        """The numbers of the past races, in order."""
        names = [name for name in self._catalog.names("races/race-") if name.endswith(f"/{ABOUT}")]
        return sorted(int(name.split("/")[1].removeprefix("race-")) for name in names)

    @property
    def current(self) -> int:
        """The number of the race in ``rounds/``, which may not have begun."""
        return max(self.numbers(), default=0) + 1

    def end(self, because: Sequence[str], config: PlainConfig) -> int | None:
        """Move the rounds of the current race, so that another one can begin.

        Gives the number of the race; None if it has no round.
        """
        rounds = Rounds(self._catalog)
        if not rounds.numbers():
            return None
        about = RaceEnd(self.current, datetime.now(UTC).isoformat(), list(because), config)
        folder, old = folder_of(about.race), rounds.files()
        moved = [
            (f"{folder}/{name.removeprefix(f'{rounds.folder}/')}", self._catalog.read(name))
            for name in old
        ]
        self._catalog.commit([*moved, about.file()], old)
        return about.race

    def rounds(self, race: int) -> Rounds:
        """The rounds of a past race."""
        return Rounds(self._catalog, folder_of(race))

    def about(self, race: int) -> RaceEnd:
        """When and why a past race ended."""
        name = f"{folder_of(race)}/{ABOUT}"
        facts = self._catalog.read_json(name)
        try:
            return RaceEnd(**facts)
        except TypeError as error:
            raise files.damaged(self._catalog.path / name, str(error)) from None

    def past(self) -> list[PastRace]:
        """The results of all past races."""
        found = []
        for number in self.numbers():
            about, last = self.about(number), self.rounds(number).last()
            assert last is not None, "a race without a round is not kept"
            state = last.state
            found.append(
                PastRace(
                    race=number,
                    ended=about.ended,
                    because=tuple(about.because),
                    rounds=state.round,
                    instances=state.instances,
                    pareto_set=state.candidates,
                )
            )
        return found

    def posteriors(self) -> list[str]:
        """The keys of the posteriors that past races ended with."""
        last = [self.rounds(number).last() for number in self.numbers()]
        return [record.posterior for record in last if record is not None]

    def check(self, number: int) -> None:
        """Refuse the number of a race that is neither a past one nor the current one."""
        numbers = self.numbers()
        if number not in [*numbers, self.current]:
            held = f"races 1 to {self.current}" if numbers else "race 1"
            raise StoreError(f"{self._catalog.path} has no race {number}; it has {held}")
