"""Earlier races of a store: their rounds are kept beside those of the present one."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

from polarbear.errors import StoreError
from polarbear.store import files
from polarbear.store.aside import SET_ASIDE
from polarbear.store.posteriors import Posteriors
from polarbear.store.rounds import Rounds

RACES = "races"
ABOUT = "race.json"


class PastRace(NamedTuple):
    """A race whose decisions were taken anew: when that was, and because of what."""

    race: int
    ended: str
    because: tuple[str, ...]
    rounds: int
    instances: int
    pareto_set: tuple[str, ...]


class Races(Rounds, Posteriors):
    """The folder ``races/`` of a store: one folder a past race, each like ``rounds/``."""

    path: Path
    manifest: Mapping[str, Any]
    past: int | None = None  # in a look back at a past race: its number
    until: datetime | None = None  # and when it ended

    def race_numbers(self) -> list[int]:
        """The past races that are kept, in their order."""
        found = (path.parent.name for path in (self.path / RACES).glob(f"race-*/{ABOUT}"))
        return sorted(int(name.removeprefix("race-")) for name in found)

    @property
    def race_number(self) -> int:
        """The number of the race in ``rounds/``, begun or not."""
        return max(self.race_numbers(), default=0) + 1

    def end_race(self, because: Sequence[str]) -> int | None:
        """Move the present race's rounds aside, so that another can begin; the number it keeps.

        All of it or nothing: its folder is moved by one rename.
        """
        folder = self.path / self.rounds_folder
        if not self.round_numbers():
            return None
        number = self.race_number
        about = {
            "race": number,
            "ended": datetime.now(UTC).isoformat(),
            "because": list(because),
            "config": self.manifest["config"],
        }
        files.write_json(folder / ABOUT, about, indent=1, plain_ascii=False)
        files.move(folder, self.path / RACES / f"race-{number:04}")
        return number

    def past_races(self) -> list[PastRace]:
        """What each past race had come to."""
        found = []
        for number in self.race_numbers():
            last = self.at_race(number).last_round()
            about = self._about(number)
            assert last is not None, "a race without a round is not kept"
            state = last.state
            found.append(
                PastRace(
                    number,
                    about["ended"],
                    tuple(about["because"]),
                    state.round,
                    state.instances,
                    state.candidates,
                )
            )
        return found

    def past_posteriors(self) -> list[str]:
        """The keys of the posteriors that past races ended with."""
        last = [self.at_race(number).last_round() for number in self.race_numbers()]
        return [record.posterior for record in last if record is not None]

    def at_race(self, number: int) -> Self:
        """The store as it was when a past race ended; the present one is the store itself."""
        numbers = self.race_numbers()
        if number == self.race_number:
            return self
        if number not in numbers:
            held = f"races 1 to {self.race_number}" if numbers else "race 1"
            raise StoreError(f"{self.path} has no race {number}; it has {held}")
        about = self._about(number)
        view = self.looking_into(self.path / RACES / f"race-{number:04}")
        view.manifest = {**self.manifest, "config": about["config"]}
        view.past = number
        view.until = datetime.fromisoformat(about["ended"])
        return view

    def posterior_keys(self) -> list[str]:
        """What posteriors are kept of the race that is looked at, or by `infer`."""
        return self._of_this_race(super().posterior_keys())

    def newest_posteriors(self) -> list[str]:
        """The same, the one kept last first."""
        return self._of_this_race(super().newest_posteriors())

    def _of_this_race(self, keys: list[str]) -> list[str]:
        last = self.last_round()
        mine = last.posterior if last is not None else None
        if self.past is not None:
            return [key for key in keys if key == mine]
        if all(key == mine for key in keys):
            return keys
        others = {*self.past_posteriors(), *(self.round(n).posterior for n in self._on_disk())}
        return [key for key in keys if key == mine or key not in others]

    def drop_posteriors_of_earlier_rounds(self) -> None:
        """Forget posteriors of this race that the last round's has taken the place of."""
        last = self.last_round()
        kept = super().posterior_keys()
        if last is None or kept == [last.posterior]:
            return
        spared = {last.posterior, *self.past_posteriors()}
        rounds = {self.round(number).posterior for number in self.round_numbers()}
        for key in kept:
            if key in rounds - spared:
                self.drop_posterior(key)

    def with_draws(self) -> Self:
        """The store as it was after the newest round whose draws are there, runs excepted.

        A race in a hurry does not keep them after each of its rounds. Where there are none at all,
        it is the store as it is.
        """
        kept = set(super().posterior_keys())
        for number in reversed(self.round_numbers()):
            if self.round(number).posterior in kept:
                view = copy.copy(self)
                view.until_round = number
                return view
        return self

    def runs_changed_since(self, posterior: str) -> bool:
        """Whether runs were set aside or taken back after a posterior was kept."""
        aside, kept = self.path / SET_ASIDE, self.path / "posteriors" / f"{posterior}.parquet"
        return aside.exists() and aside.stat().st_mtime_ns > kept.stat().st_mtime_ns

    def looking_into(self, folder: Path) -> Self:
        """The same store with the rounds that are in this folder of it."""
        view = copy.copy(self)
        view.rounds_folder = str(folder.relative_to(self.path))
        return view

    def _about(self, number: int) -> dict[str, Any]:
        path = self.path / RACES / f"race-{number:04}" / ABOUT
        return files.read_json(path)  # type: ignore[no-any-return]
