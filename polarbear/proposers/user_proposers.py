"""Proposers of users: programs and Python functions, which run with the user's rights."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar

from pydantic import Field, field_validator

from polarbear.errors import ConfigError
from polarbear.proposers.base import Proposed, Proposer, Request
from polarbear.settings.options import describe, unknown
from polarbear.settings.user_code import Reference, check_call, load_function

MAX_ANSWER_BYTES = 10 * 2**20
MAX_QUOTED_ERROR = 300  # characters of standard error
KEYS = ("algorithm", "options", "code", "function")


class Command(Proposer):
    """A program: it reads the present set as JSON and prints a list of candidates as JSON."""

    command: tuple[str, ...] = Field(
        min_length=1, description="the program and its arguments, as a list or a line"
    )
    seconds: float = Field(600.0, gt=0, description="seconds after which it is killed")

    needs_space: ClassVar[bool] = False

    @field_validator("command", mode="before", json_schema_input_type=str | list[str])
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(shlex.split(value)) if isinstance(value, str) else value

    def propose(self, request: Request) -> list[Proposed]:
        output = self._output_for(json.dumps(request.to_plain()), request.folder)
        try:
            answer = json.loads(output)
        except ValueError:
            raise ConfigError(f"{self.command[0]} printed no JSON: {output[:80]!r}") from None
        return proposals_of(answer)

    def _output_for(self, text: str, folder: str) -> str:
        """What the program prints for this input; a ConfigError says why it failed."""
        arguments = list(self.command)
        if os.sep in arguments[0]:
            arguments[0] = os.path.join(folder, arguments[0])  # noqa: PTH118
        try:
            process = subprocess.Popen(
                arguments,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise ConfigError(f"cannot start {self.command[0]}: {error.strerror}") from None
        try:
            output, errors = process.communicate(text.encode(), timeout=self.seconds)
        except subprocess.TimeoutExpired:
            raise ConfigError(f"{self.command[0]} took more than {self.seconds:g} s") from None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        if process.returncode != 0:
            end = errors.decode(errors="replace").strip()[-MAX_QUOTED_ERROR:]
            raise ConfigError(
                f"{self.command[0]} ended with exit code {process.returncode}"
                + (f"; standard error: {end}" if end else "")
            )
        if len(output) > MAX_ANSWER_BYTES:
            raise ConfigError(f"{self.command[0]} printed more than {MAX_ANSWER_BYTES} bytes")
        return output.decode(errors="replace")


class Python(Proposer):
    """A function: ``function(request, **options)`` returns a list of candidates."""

    function: Reference = Field(
        description="'module:function' or 'file.py:function', looked for beside the configuration"
    )
    options: dict[str, Any] = Field({}, description="further arguments for the function")

    needs_space: ClassVar[bool] = False

    def propose(self, request: Request) -> list[Proposed]:
        function = load_function(self.function, request.folder)
        check_call(function, self.function, ("request",), self.options)
        # The plain form is a copy, so that the function cannot change what PolarBear knows.
        plain = json.loads(json.dumps(request.to_plain()))
        return proposals_of(function(plain, **self.options))


def proposals_of(answer: object) -> list[Proposed]:
    """The candidates in an answer; a ConfigError says what is wrong with it.

    A candidate is a mapping of options, or a mapping with the keys algorithm and options, or with
    code, function and options.
    """
    if isinstance(answer, Mapping) and "candidates" in answer:
        answer = answer["candidates"]
    if not isinstance(answer, list | tuple):
        raise ConfigError(f"a proposer returns a list of candidates, not {describe(answer)}")
    return [_proposal(number, item) for number, item in enumerate(answer, 1)]


def _proposal(number: int, item: object) -> Proposed:
    if not isinstance(item, Mapping):
        raise ConfigError(f"candidate {number} is not a mapping, but {describe(item)}")
    if not {"options", "code"} & set(item):
        raise ConfigError(f"candidate {number} has neither the key 'options' nor 'code'")
    for key in item:
        if key not in KEYS:
            raise ConfigError(f"candidate {number}: {unknown('key', str(key), KEYS)}")
    options = item.get("options") or {}
    if not isinstance(options, Mapping):
        raise ConfigError(f"candidate {number}: options are a mapping, not {describe(options)}")
    for key in ("algorithm", "code", "function"):
        if not isinstance(item.get(key), str | None):
            raise ConfigError(f"candidate {number}: '{key}' is a text, not {describe(item[key])}")
    return Proposed(
        algorithm=item.get("algorithm"),
        values=dict(options),
        code=item.get("code"),
        function=item.get("function"),
    )
