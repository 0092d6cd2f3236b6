"""The JSON Schema of a configuration, for completion and checks in editors.

It is generated from the same fields, descriptions and registries as `init` and the validation,
including plug-ins of other packages.
"""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from polarbear.algorithms import ADAPTERS
from polarbear.config.configuration import Configuration
from polarbear.inference.models import MODELS
from polarbear.problems import SUITES
from polarbear.settings.registry import Registry

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NAME = "polarbear.schema.json"  # as written by `init`

Schema = dict[str, Any]


def config_schema() -> Schema:
    """The schema of a whole configuration file."""
    plug_ins: list[type[BaseModel]] = [*ADAPTERS.values(), *SUITES.values()]
    own = {name: model.own_options for name, model in MODELS.items()}
    groups: list[type[BaseModel]] = [Configuration, *plug_ins, *own.values()]
    references, shared = models_json_schema(
        [(group, "validation") for group in groups], by_alias=True
    )
    schemas = {model: reference for (model, _), reference in references.items()}
    parts = shared["$defs"]
    top = parts.pop(schemas[Configuration]["$ref"].removeprefix("#/$defs/"))
    adapters = {name: schemas[ADAPTERS[name]] for name in ADAPTERS}
    suites = {name: schemas[SUITES[name]] for name in SUITES}
    keys = top["properties"]
    keys["algorithms"] |= {"items": _chosen_by("use", ADAPTERS, adapters), "minItems": 1}
    keys["instances"] |= _chosen_by("suite", SUITES, suites)
    _list_models(parts["ModelOptions"], {name: schemas[model] for name, model in own.items()})
    return {
        "$schema": DIALECT,
        "title": "PolarBear configuration",
        **{key: value for key, value in top.items() if key != "title"},
        "$defs": parts,
    }


def _chosen_by(key: str, registry: Registry[Any], schemas: dict[str, Schema]) -> Schema:
    """A mapping in which ``key`` names a plug-in, and the other keys are its options."""
    return {
        "type": "object",
        "required": [key],
        "properties": {key: {"anyOf": _named(registry)}},
        "allOf": [
            {"if": {"properties": {key: {"const": name}}, "required": [key]}, "then": schema}
            for name, schema in schemas.items()
        ],
    }


def _list_models(options: Schema, own: dict[str, Schema]) -> None:
    """List the models, and restrict the options of each."""
    options["properties"]["model"]["anyOf"] = _named(MODELS)
    options["allOf"] = [
        {
            "if": {"properties": {"model": {"const": name}}, "required": ["model"]},
            "then": {"properties": {"options": schema}},
        }
        for name, schema in own.items()
    ]


def _named(registry: Registry[Any]) -> list[Schema]:
    """The names of plug-ins, each with the first line of its docstring."""
    schemas = []
    for name in registry:
        schema: Schema = {"const": name}
        description = registry.about(name).replace("``", "`")
        if description:
            schema["description"] = description
        schemas.append(schema)
    return schemas
