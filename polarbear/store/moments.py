"""Moments as a store keeps them, whatever the clock of a machine says."""

from datetime import UTC, datetime

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9999, 12, 31, tzinfo=UTC)


def moment(timestamp: float) -> datetime:
    """The moment of a clock's time; one that no store can keep becomes the nearest that it can."""
    seconds = min(max(timestamp, EARLIEST.timestamp()), LATEST.timestamp())
    return datetime.fromtimestamp(seconds, UTC)


def now() -> datetime:
    """The moment that the clock shows."""
    return max(EARLIEST, datetime.now(UTC))
