"""Everything that knows the folder on disk: tables, parts, lock, records, and what is in it.

Uses `config`, `execution`'s outcomes, `rankings`, `inference`'s posterior and beliefs, `race`'s
records; the only reader and writer of a store.
"""

from __future__ import annotations

from polarbear.store.store import Store, best_so_far, is_store

__all__ = ["Store", "best_so_far", "is_store"]
