"""The groups of options that make up a configuration, as objects: ``pb.Budget(grid=[10, 100])``."""

from polarbear.config.configuration import Configuration as Config
from polarbear.config.execution import Execution
from polarbear.inference.model_options import ModelOptions
from polarbear.racing.rules import Rules
from polarbear.settings.grid import Budget

__all__ = ["Budget", "Config", "Execution", "ModelOptions", "Rules"]

for _group in (Budget, Config, Execution, ModelOptions, Rules):
    _group.model_rebuild()  # adds the signature that editors complete
