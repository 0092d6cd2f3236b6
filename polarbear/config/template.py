"""Configurations to begin with: a short one, and one with every option and its default."""

import textwrap
from collections.abc import Iterator
from enum import StrEnum

import yaml
from pydantic_core import PydanticUndefined

from polarbear.algorithms import ADAPTERS
from polarbear.algorithms.base import Algorithm
from polarbear.config.configuration import Configuration
from polarbear.config.json_schema import NAME
from polarbear.inference.models import MODELS
from polarbear.problems import SUITES
from polarbear.problems.base import Suite
from polarbear.settings.options import Options

WIDTH = 88
HEAD = f"""\
# yaml-language-server: $schema={NAME}
# A configuration of PolarBear: every option with its default. It can be run unchanged."""

ALGORITHMS = """\
algorithms:
  - name: random search
    use: random-search
    # A name for figures and the page, at most 16 characters; by default its name.
    # label: random
    # true, or {points: K}, if it plans for its budget: 8 (or K) runs on each problem.
    # contract: false
    # For `polarbear design`: the space of its configurations, in a file or as a mapping, and
    # configurations to begin with.
    # space: {sigma: {real: [0.01, 1], log: true, default: 0.3}}
    # given: [{sigma: 0.1}]
  - name: Nelder-Mead
    use: scipy
    method: nelder-mead
  - name: CMA-ES
    use: cma

# Adapters and their options:
#"""

BUDGET = """\
budget:
  # 'evaluations', 'seconds', 'cpu-seconds' (of the processor), or any other name: t is then what
  # algorithms report.
  axis: evaluations
  # Even steps in log t or in t ('linear'); or a list of times: [10, 100, 1000].
  # The last time is the budget of a run.
  grid: {spacing: log, from: 10, to: 2000, points: 30}"""


SHORT = f"""\
# yaml-language-server: $schema={NAME}
# A race on textbook problems; `polarbear init all.yaml --all` writes every option.
algorithms:
  - {{name: random search, use: random-search}}
  - {{name: Nelder-Mead, use: scipy, method: nelder-mead}}
  - {{name: CMA-ES, use: cma}}
instances: {{suite: classic}}
budget:
  grid: {{spacing: log, from: 10, to: 2000, points: 30}}
"""


def commented_config() -> str:
    """The text that `polarbear init --all` writes."""
    lines = [HEAD]
    for name, field in Configuration.model_fields.items():
        lines += ["", *_comment(field.description)]
        if name == "algorithms":
            lines.append(ALGORITHMS)
            for use, adapter in ADAPTERS.items():
                options = _options(adapter, skip=set(Algorithm.model_fields))
                lines += [*_reference(adapter, f"use: {use}", *options), "#"]
        elif name == "instances":
            lines += ["instances:", "  suite: classic"]
            lines += [f"  {line}" for line in _options(SUITES["classic"], skip={"suite"})]
            lines += [
                "",
                "# Other suites and their options (each has count and maximise, too):",
                "#",
            ]
            for suite in SUITES:
                if suite != "classic":
                    options = _options(SUITES[suite], skip=set(Suite.model_fields))
                    lines += [*_reference(SUITES[suite], f"suite: {suite}", *options), "#"]
        elif name == "budget":
            lines.append(BUDGET)
        else:
            default = field.get_default(call_default_factory=True)
            if isinstance(default, Options):
                lines += [f"{name}:", *(f"  {line}" for line in _options(type(default)))]
            else:
                lines += _on_lines(name, default)
    for name, model in MODELS.items():
        if model.own_options.model_fields:
            own = (f"  {line}" for line in _options(model.own_options))
            comment = _reference(model, f"model: {name}", "options:", *own)
            lines += [f"  {line}" for line in comment]
    return "\n".join(lines) + "\n"


def _comment(text: str | None) -> list[str]:
    return textwrap.wrap(f"# {text}", WIDTH, subsequent_indent="# ")


def _reference(plug_in: type, *lines: str) -> Iterator[str]:
    """A plug-in that is not used, as a comment; third-party ones may lack a docstring."""
    about = (plug_in.__doc__ or "").strip().partition("\n")[0].replace("``", "")
    yield f"# {about}"
    yield from (f"#   {line}" for line in lines)


def _options(
    group: type[Options], skip: set[str] | None = None, values: Options | None = None
) -> Iterator[str]:
    """The description of each option, and its key with the default."""
    for name, field in group.model_fields.items():
        if name in (skip or ()):
            continue
        key = field.alias or name
        default = field.default if values is None else getattr(values, name)
        yield from _comment(field.description)
        if isinstance(default, Options) and _has_groups(default):
            yield f"{key}:"
            yield from (f"  {line}" for line in _options(type(default), values=default))
        elif default is PydanticUndefined:
            yield f"{key}: (needed)"
        else:
            yield from _on_lines(key, default)


def _has_groups(options: Options) -> bool:
    return any(isinstance(getattr(options, name), Options) for name in type(options).model_fields)


def _on_lines(key: str, value: object) -> list[str]:
    """A key and its value, on one line if it fits."""
    if isinstance(value, Options):
        value = value.model_dump(mode="json", by_alias=True)
    elif isinstance(value, tuple):
        value = list(value)
    elif isinstance(value, StrEnum):
        value = value.value
    if isinstance(value, list | dict):
        text = yaml.safe_dump({key: value}, default_flow_style=None, sort_keys=False, width=WIDTH)
        return text.rstrip().splitlines()
    return [f"{key}: {yaml.safe_dump(value).splitlines()[0]}"]
