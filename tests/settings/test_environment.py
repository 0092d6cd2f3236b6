"""What is set for commands keeps Pydantic from loading what it would look for plug-ins with."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from polarbear.settings.environment import NO_PLUG_INS, PLUG_INS

MODELLED = f"""
import json, sys
from polarbear.settings import environment
environment.set_for_commands()
from pydantic import BaseModel
class Point(BaseModel):
    x: int
point = Point.model_validate({{"x": "3"}})
loaded = "importlib.metadata" in sys.modules
known = "_loading_plugins" in vars(sys.modules["{PLUG_INS}"])
from {PLUG_INS} import PYDANTIC_ENTRY_POINT_GROUP, get_plugins
print(json.dumps([point.x, loaded, known, PYDANTIC_ENTRY_POINT_GROUP, list(get_plugins())]))
"""


def modelled(**variables: str) -> list[object]:
    clean = {name: value for name, value in os.environ.items() if name != NO_PLUG_INS}
    command = [sys.executable, "-c", MODELLED]
    done = subprocess.run(
        command, env=clean | variables, capture_output=True, text=True, check=True
    )
    found: list[object] = json.loads(done.stdout)
    return found


def test_models_are_made_without_looking_for_plug_ins_and_the_rest_is_pydantics_own():
    assert modelled() == [3, False, False, "pydantic", []]


@pytest.mark.parametrize("disabled", ["__all__", "some-plug-in"])
def test_who_has_said_something_about_plug_ins_is_left_with_pydantics_module(disabled: str):
    x, loaded, known, *_ = modelled(**{NO_PLUG_INS: disabled})
    assert (x, loaded, known) == (3, True, True)
