"""The newcomers that were judged against the set of a store, in the order in which they came.

The error of wrong members is shared by all of them, so that each keeps its number for ever. An
entry is written before anything is run, and its result afterwards: a judgement that was interrupted
continues under its number, and one that is finished is never made again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from polarbear.store.catalog import Catalog, File, json_file

JUDGEMENTS = "judgements.json"


@dataclass(frozen=True)
class StoredJudgement:
    """A newcomer with the fingerprint of its code and options, and the facts of its judgement.

    ``result`` is None while it is being judged.
    """

    newcomer: str
    fingerprint: str
    result: dict[str, Any] | None = None


@dataclass(frozen=True)
class JudgementList:
    """The content of ``judgements.json``; the number of a newcomer is its place, from 1 on."""

    judgements: tuple[StoredJudgement, ...] = ()

    @property
    def unfinished(self) -> list[str]:
        """The newcomers whose judgement was interrupted."""
        return [entry.newcomer for entry in self.judgements if entry.result is None]

    def renamed(self, old: str, new: str) -> JudgementList:
        """The same list with a new name for an algorithm."""
        entries = [
            replace(entry, newcomer=new) if entry.newcomer == old else entry
            for entry in self.judgements
        ]
        return JudgementList(tuple(entries))

    def file(self) -> File:
        return json_file(JUDGEMENTS, asdict(self))


class Judgements:
    """The file ``judgements.json`` of a store, which exists once a newcomer was judged."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def read(self) -> JudgementList:
        try:
            return self._catalog.read_record(JUDGEMENTS, JudgementList)
        except FileNotFoundError:
            return JudgementList()

    def begin(self, newcomer: str, fingerprint: str) -> int:
        """Note a newcomer that is going to be judged; returns its number in the stream.

        A newcomer that comes again, since it has failed, keeps its number.
        """
        entry = StoredJudgement(newcomer, fingerprint)
        entries = list(self.read().judgements)
        numbers = {other.newcomer: number for number, other in enumerate(entries, 1)}
        number = numbers.setdefault(newcomer, len(entries) + 1)
        entries[number - 1 : number] = [entry]
        self._catalog.commit([JudgementList(tuple(entries)).file()])
        return number

    def finish(self, newcomer: str, result: Mapping[str, Any]) -> None:
        """Note the result of a judgement."""
        entries = tuple(
            replace(entry, result=dict(result)) if entry.newcomer == newcomer else entry
            for entry in self.read().judgements
        )
        self._catalog.commit([JudgementList(entries).file()])

    def of(self, newcomer: str) -> StoredJudgement | None:
        """The entry of a newcomer, if it has come."""
        for entry in self.read().judgements:
            if entry.newcomer == newcomer:
                return entry
        return None
