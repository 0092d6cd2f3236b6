"""A console on which nothing that came from a file or a program can control the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.segment import Segment

from polarbear.wording import visible


class HarmlessConsole(Console):
    """Rich's console; controls that are not its own are written out, as in \\x1b."""

    def render(self, *arguments: Any, **more: Any) -> Iterator[Segment]:
        for text, style, control in super().render(*arguments, **more):
            yield Segment(text if control else visible(text, keep="\n"), style, control)
