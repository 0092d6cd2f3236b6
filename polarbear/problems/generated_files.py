"""Files of generated instances, written when they are first needed.

Solvers and programs read instances from files. The files of a process, and of those that it forks,
are temporary: a worker's lie in the folder that its pool removes, and others are removed at the end
of the process.
"""

import atexit
import hashlib
import json
import os
import secrets
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from polarbear.problems.base import Spec


@cache
def _process_token() -> str:
    """A name of this process and those that it forks later."""
    return secrets.token_hex(8)


def generated_file(spec: Spec, ending: str, text: Callable[[], str]) -> str:
    """The path of the file of an instance; its text is generated if there is no file yet."""
    digest = hashlib.sha256(json.dumps(dict(spec), sort_keys=True).encode()).hexdigest()
    name = f"polarbear-{_process_token()}-{digest[:24]}{ending}"
    path = Path(tempfile.gettempdir()) / name
    if not path.exists():
        incomplete = path.with_name(f"{name}.{os.getpid()}")
        incomplete.write_text(text(), encoding="ascii")
        incomplete.replace(path)
        atexit.register(path.unlink, missing_ok=True)  # not called in processes of runs
    return str(path)
