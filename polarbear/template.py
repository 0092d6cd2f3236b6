"""A commented configuration that runs as it is and shows every option with its default."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any

from pydantic_core import PydanticUndefined

from polarbear.algorithms import ADAPTERS
from polarbear.algorithms.base import Algorithm
from polarbear.config import Execution
from polarbear.options import Options
from polarbear.problems import SUITES
from polarbear.problems.base import Suite

HEAD = """\
# What PolarBear runs. Keys behind '#' show their defaults; take the '#' away to change one.

# Everything random derives from it.
seed: 1

# The algorithms to compare. Each has a name of its own; several may use the same adapter.
algorithms:
  - name: random search
    use: random-search
  - name: Nelder-Mead
    use: scipy
    method: nelder-mead
  - name: CMA-ES
    use: cma

# Adapters and their options:
#"""

BUDGET = """\
# How time is counted, and when algorithms are compared.
budget:
  # 'evaluations', 'seconds', or any other name: t is then what algorithms report.
  axis: evaluations
  # Evenly spaced in log t or in t ('linear'); or a list of times: [10, 100, 1000].
  # The last time is the budget of a run.
  grid: {spacing: log, from: 10, to: 2000, points: 30}
"""


def commented_config() -> str:
    """The text that `polarbear init` writes."""
    lines = [HEAD]
    for name in ADAPTERS:
        lines += _plug_in(ADAPTERS[name], "use", name, skip=set(Algorithm.model_fields))
    lines += ["", "# The suite that problems are drawn from.", "instances:", "  suite: classic"]
    lines += [f"  {line}" for line in _options(SUITES["classic"], skip={"suite"})]
    lines += ["", "# Other suites and their options (each has count and maximise too):", "#"]
    for name in SUITES:
        if name != "classic":
            lines += _plug_in(SUITES[name], "suite", name, skip=set(Suite.model_fields))
    lines += ["", BUDGET.rstrip(), "", "# How runs are executed.", "execution:"]
    lines += [f"  {line}" for line in _options(Execution)]
    return "\n".join(lines) + "\n"


def _plug_in(plug_in: type[Options], key: str, name: str, skip: set[str]) -> Iterator[str]:
    about = (plug_in.__doc__ or "").strip().splitlines()[0]
    yield f"# {key}: {name}    ({about.rstrip('.')})"
    for line in _options(plug_in, skip):
        yield f"#   {line.removeprefix('# ')}" if not _is_comment(line) else f"#   {line}"
    yield "#"


def _options(group: type[Options], skip: set[str] | None = None) -> Iterator[str]:
    """Each option: what it means, then the key, commented out, with its default."""
    for name, field in group.model_fields.items():
        if name in (skip or ()):
            continue
        key = field.alias or name
        yield from textwrap.wrap(f"# # {field.description}", 90, subsequent_indent="# # ")
        default = field.default
        if isinstance(default, Options):
            yield f"# {key}:"
            yield from (f"#   {line.removeprefix('# ')}" for line in _options(type(default)))
        elif default is PydanticUndefined:
            yield f"# {key}: (needed)"
        else:
            yield f"# {key}: {_yaml(default)}"


def _is_comment(line: str) -> bool:
    return line.startswith("# #")


def _yaml(value: Any) -> str:
    """A value on one line; JSON is YAML, and bare words look better."""
    if isinstance(value, str) and value.replace("-", "").replace("/", "").isalnum():
        return value
    return json.dumps(value)
