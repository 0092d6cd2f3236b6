"""The folder on disk: its tables, files, lock, checkpoints and posteriors.

Uses `config`, `execution`'s outcomes, `rankings`, `inference`'s posterior and beliefs, `racing`'s
records; no other room knows the format.
"""

from __future__ import annotations

from polarbear.store.manifest import is_store
from polarbear.store.run_values import best_so_far
from polarbear.store.store import StoreOnDisk

__all__ = ["StoreOnDisk", "best_so_far", "is_store"]
