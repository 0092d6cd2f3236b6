"""All families of plug-ins, by the name of the family."""

from typing import Any

from polarbear.algorithms import ADAPTERS
from polarbear.algorithms.solver_logs import LOGS
from polarbear.formats import EXPORTS, FORMATS
from polarbear.inference.models import MODELS
from polarbear.problems import SUITES
from polarbear.proposers import PROPOSERS
from polarbear.report.figures import FIGURES
from polarbear.selection.preference import PREFERENCES
from polarbear.settings.registry import Registry

REGISTRIES: dict[str, Registry[Any]] = {
    "models": MODELS,
    "suites": SUITES,
    "adapters": ADAPTERS,
    "logs": LOGS,
    "preferences": PREFERENCES,
    "figures": FIGURES,
    "formats": FORMATS,
    "exports": EXPORTS,
    "proposers": PROPOSERS,
}
