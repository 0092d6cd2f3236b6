"""The settings of a race that every round keeps, since they must not change while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from polarbear.inference.model_options import AS_STORED, ModelOptions
from polarbear.racing.rules import Rules, with_stored_guarantee
from polarbear.settings.options import OF_OTHER_VERSIONS


@dataclass(frozen=True)
class RaceSettings:
    """The settings that decide a round; limits and ``regret`` may change, and are not among them.

    ``failures`` is how failed runs are ranked, None for the default. ``weights`` are those of
    instances. ``stored`` is the plain form, which keeps the keys that another version wrote.
    """

    rules: Rules
    inference: ModelOptions
    failures: str | None
    weights: Mapping[str, float]
    stored: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(
        cls,
        rules: Rules,
        inference: ModelOptions,
        failures: str | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> Self:
        """The settings of a race that runs now."""
        others: dict[str, object] = {}
        if failures is not None:
            others["failures"] = failures
        if weights:
            others["weights"] = dict(weights)
        return cls.from_stored(
            {
                "rules": rules.model_dump(mode="json", by_alias=True, exclude={"limits", "regret"}),
                "inference": inference.model_dump(mode="json", by_alias=True),
                "settings": others,
            }
        )

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Self:
        """The settings in a checkpoint; a ValueError, KeyError or TypeError says what is wrong."""
        inference = stored["inference"]
        inference = {"model": inference["model"], **inference}
        others = stored["settings"]
        return cls(
            Rules.model_validate(with_stored_guarantee(stored["rules"]), context=OF_OTHER_VERSIONS),
            ModelOptions.model_validate(inference, context=AS_STORED),
            others.get("failures"),
            others.get("weights", {}),
            stored,
        )

    def to_plain(self) -> dict[str, Any]:
        """The rules and the other settings as one JSON object, without those of inference."""
        return {**self.stored["rules"], **self.stored["settings"]}
