"""Small, seeded versions of the studies, and each comparator against something independent."""

import sys
from pathlib import Path

STUDIES = Path(__file__).parents[2] / "studies"
sys.path.insert(0, str(STUDIES))
