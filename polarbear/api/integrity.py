"""Verifies and repairs the files of a store."""

from polarbear.store.repair import repair
from polarbear.store.verify import verify

__all__ = ["repair", "verify"]
