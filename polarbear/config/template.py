"""Generates a commented configuration with every option and its default."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

import yaml
from pydantic_core import PydanticUndefined

from polarbear.algorithms import ADAPTERS
from polarbear.algorithms.base import Algorithm
from polarbear.config.execution import Execution
from polarbear.config.json_schema import NAME
from polarbear.inference.model_options import ModelOptions
from polarbear.inference.models import MODELS, AnyModel
from polarbear.problems import SUITES
from polarbear.problems.base import Suite
from polarbear.racing.rules import Rules
from polarbear.settings.options import Options

WIDTH = 88
HEAD = f"""\
# yaml-language-server: $schema={NAME}
# A configuration of PolarBear: every option with its default. It can be run unchanged.

# All random numbers derive from it.
seed: 1
# Whether algorithms have different seeds on an instance ('separate') or the same ('common').
seeds: separate

# The algorithms to compare. Each has a unique name; several may use the same adapter.
algorithms:
  - name: random search
    use: random-search
    # A name for figures and the page, at most 16 characters; by default its name.
    # label: random
  - name: Nelder-Mead
    use: scipy
    method: nelder-mead
  - name: CMA-ES
    use: cma

# Adapters and their options:
#"""

BUDGET = """\
# The axis of time, and the times at which algorithms are compared.
budget:
  # 'evaluations', 'seconds', or any other name: t is then what algorithms report.
  axis: evaluations
  # Even steps in log t or in t ('linear'); or a list of times: [10, 100, 1000].
  # The last time is the budget of a run.
  grid: {spacing: log, from: 10, to: 2000, points: 30}

# The value of a run at a time: the best so far, or the 'last' one, which may be worse.
trajectory: best
"""


def commented_config() -> str:
    """The text that `polarbear init` writes."""
    lines = [HEAD]
    for name in ADAPTERS:
        lines += _reference(ADAPTERS[name], "use", name, skip=set(Algorithm.model_fields))
    lines += ["", "# The suite from which problems are drawn.", "instances:", "  suite: classic"]
    lines += [f"  {line}" for line in _options(SUITES["classic"], skip={"suite"})]
    lines += ["", "# Other suites and their options (each has count and maximise, too):", "#"]
    for name in SUITES:
        if name != "classic":
            lines += _reference(SUITES[name], "suite", name, skip=set(Suite.model_fields))
    lines += ["", BUDGET, "# How runs are executed.", "execution:"]
    lines += [f"  {line}" for line in _options(Execution)]
    lines += ["", "# When `polarbear race` eliminates, and when it stops.", "race:"]
    lines += [f"  {line}" for line in _options(Rules)]
    lines += ["", "# The model behind a race, and how its posterior is computed.", "inference:"]
    lines += [f"  {line}" for line in _options(ModelOptions)]
    for name, model in MODELS.items():
        if model.own_options.model_fields:
            lines += _own_options(model, name)
    return "\n".join(lines) + "\n"


def _reference(plug_in: type[Options], key: str, name: str, skip: set[str]) -> Iterator[str]:
    """The options of a plug-in that is not used, as a comment."""
    yield f"# {_about(plug_in)}"
    yield f"#   {key}: {name}"
    for line in _options(plug_in, skip):
        yield f"#   {line}"
    yield "#"


def _about(plug_in: type) -> str:
    """The first line of the docstring, which third-party plug-ins may lack."""
    return (plug_in.__doc__ or "").strip().partition("\n")[0].replace("``", "")


def _own_options(model: type[AnyModel], name: str) -> Iterator[str]:
    """The options of a model that is not used, as a comment."""
    yield f"  # {_about(model)}"
    yield f"  #   model: {name}"
    yield "  #   options:"
    for line in _options(model.own_options):
        yield f"  #     {line}"


def _options(
    group: type[Options], skip: set[str] | None = None, values: Options | None = None
) -> Iterator[str]:
    """The description of each option, and its key with the default."""
    for name, field in group.model_fields.items():
        if name in (skip or ()):
            continue
        key = field.alias or name
        default = field.default if values is None else getattr(values, name)
        yield from textwrap.wrap(f"# {field.description}", WIDTH, subsequent_indent="# ")
        if isinstance(default, Options) and _has_groups(default):
            yield f"{key}:"
            yield from (f"  {line}" for line in _options(type(default), values=default))
        elif default is PydanticUndefined:
            yield f"{key}: (needed)"
        else:
            yield from _on_lines(key, default)


def _has_groups(options: Options) -> bool:
    return any(isinstance(getattr(options, name), Options) for name in type(options).model_fields)


def _on_lines(key: str, value: Any) -> list[str]:
    """A key and its value, on one line if it fits."""
    if isinstance(value, Options):
        value = value.model_dump(mode="json", by_alias=True)
    elif isinstance(value, tuple):
        value = list(value)
    if isinstance(value, list | dict):
        text = yaml.safe_dump({key: value}, default_flow_style=None, sort_keys=False, width=WIDTH)
        return text.rstrip().splitlines()
    return [f"{key}: {yaml.safe_dump(value).splitlines()[0]}"]
