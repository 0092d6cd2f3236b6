# Editors, mypy and `lazy_loader.attach_stub` in __init__.py read this list of all names.
from .api import adapters as adapters
from .api import suites as suites
from .api.configuration_parts import Budget as Budget
from .api.configuration_parts import Config as Config
from .api.configuration_parts import Execution as Execution
from .api.configuration_parts import ModelOptions as ModelOptions
from .api.configuration_parts import Rules as Rules
from .api.designing import design as design
from .api.experiments import race as race
from .api.gating import gate as gate
from .api.histories import history as history
from .api.importing import import_data as import_data
from .api.importing import infer as infer
from .api.judging import Judgement as Judgement
from .api.judging import judge as judge
from .api.listening import Listener as Listener
from .api.merge_stores import merge as merge
from .api.plain_runs import check as check
from .api.plain_runs import check_contract as check_contract
from .api.plain_runs import run as run
from .api.posterior import Posterior as Posterior
from .api.reporting import compare_stores as compare_stores
from .api.store_handle import Store as Store
from .api.store_handle import open as open
from .errors import AlgorithmError as AlgorithmError
from .errors import ConfigError as ConfigError
from .errors import ExportFailedError as ExportFailedError
from .errors import ImportFailedError as ImportFailedError
from .errors import InferenceError as InferenceError
from .errors import PolarBearError as PolarBearError
from .errors import PolarBearWarning as PolarBearWarning
from .errors import ProblemError as ProblemError
from .errors import RaceError as RaceError
from .errors import ReportError as ReportError
from .errors import SelectionError as SelectionError
from .errors import StoreError as StoreError
from .execution.executor_choice import use_executor as use_executor
from .execution.in_process import InProcess as InProcess

__version__: str
__all__: list[str]
