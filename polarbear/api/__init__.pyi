# `pb.adapters` and `pb.suites`; all other modules are imported by their names.
from . import adapters as adapters
from . import suites as suites
