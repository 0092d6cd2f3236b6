"""Helpers of all tests: a configuration folder, and the command line as users call it."""

import errno
import importlib
import io
import json
import os
import random
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import yaml

from polarbear.cli import main
from polarbear.config.configuration import Config
from polarbear.driver.kept_posteriors import store_posterior
from polarbear.execution.in_process import InProcess
from polarbear.execution.outcome import Task
from polarbear.facts.evidence import cached_posterior, evidence_of
from polarbear.inference import ModelOptions, Posterior, infer
from polarbear.inference.posterior_draws import Diagnostics
from polarbear.rankings.choice_sets import count_choice_sets
from polarbear.store import StoreOnDisk

SOLVERS = Path(__file__).parent / "solvers.py"
ANNEALING = Path(__file__).parent / "driver" / "annealing.py"
WIDE = {"COLUMNS": "160"}
RANDOM = {"name": "random", "use": "random-search"}
# Algorithms and suites that cannot harm the process in which they run.
HARMLESS = {
    *("synthetic", "random-search", "classic"),
    *(
        f"{SOLVERS}:{function}"
        for function in (
            *(
                "coordinate_descent",
                "stops",
                "holds",
                "overfits",
                "reports_iterations",
                "knows_a_folder",
            ),
            *("fails_at_once", "fails_sometimes", "fails_until"),
            *("bowl", "NanBowl", "NoisyBowl", "OnlyNan", "Hill"),
        )
    ),
    *(f"{ANNEALING}:{function}" for function in ("annealing", "sampling", "population")),
}


def solver(function: str, name: str | None = None, **options: Any) -> dict[str, Any]:
    """The entry of a configuration for an algorithm in solvers.py."""
    entry = {"name": name or function, "use": "python", "function": f"{SOLVERS}:{function}"}
    return {**entry, "options": options} if options else entry


def synthetic(ratings: Mapping[str, object], **suite: Any) -> dict[str, Any]:
    """The part of a configuration with algorithms whose true ratings are known."""
    return {
        "algorithms": [{"name": name, "use": "synthetic"} for name in ratings],
        "instances": {"suite": "synthetic", "ratings": dict(ratings), **suite},
    }


class InRandomOrder(InProcess):
    """An executor in this process whose runs finish in random order."""

    def __init__(self, config: Config, workers: int, seed: int) -> None:
        super().__init__(config, workers)
        self._random = random.Random(seed)

    def _next_task(self) -> Task:
        return self._tasks.pop(self._random.randrange(len(self._tasks)))


def quick_executor(config: Config) -> InProcess | None:
    """An executor in this process, if neither time nor code that may do harm is involved."""
    plain = config.plain()
    execution = config.execution
    used = {entry.get("function", entry["use"]) for entry in plain["algorithms"].values()}
    used.add(plain["instances"].get("function", plain["instances"]["suite"]))
    limited = execution.seconds_per_run or execution.memory_mib or execution.engine != "local"
    if limited or config.budget.axis == "seconds" or not used <= HARMLESS:
        return None
    return InProcess(config)


class Project:
    """A folder with a configuration, and the command line run in it.

    With ``alone``, every command has a separate process, which tests of the environment need.
    """

    def __init__(self, folder: Path, alone: bool = False) -> None:
        self.folder = folder
        self.alone = alone
        self.store = folder / "config"

    def configure(self, **changes: Any) -> Path:
        """Write config.yaml: three quick algorithms on small textbook problems, and changes."""
        config: dict[str, Any] = {
            "algorithms": [RANDOM, solver("coordinate_descent")],
            "instances": {"suite": "classic", "count": 3, "dimensions": {"from": 2, "to": 4}},
            "budget": {"grid": {"from": 5, "to": 200, "points": 8}},
            "execution": {"workers": 2},
        }
        config |= changes
        # Races of most tests are about something else than the choice at every time, and shorter.
        rules = config.get("race") or {}
        if isinstance(rules, Mapping):
            config["race"] = {"regret": None, **rules}
        path = self.folder / "config.yaml"
        path.write_text(yaml.safe_dump({k: v for k, v in config.items() if v is not None}))
        return path

    def __call__(self, *arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a command in the folder to its end.

        It is run in this process, which saves the seconds of importing. With options, which are
        those of `subprocess.run`, it has a separate process.
        """
        if options or self.alone:
            return self.in_own_process(*arguments, **options)
        command = ["polarbear", *map(str, arguments)]
        out = io.StringIO()
        err = io.StringIO()
        with self._as_if_alone(command), redirect_stdout(out), redirect_stderr(err):
            code = exit_code_of_main()
        return subprocess.CompletedProcess(command, code, out.getvalue(), err.getvalue())

    def done(self, *arguments: Any) -> subprocess.CompletedProcess[str]:
        """Run a command that must succeed."""
        done = self(*arguments)
        assert done.returncode == 0, done.stderr
        return done

    def race(self, *arguments: Any) -> subprocess.CompletedProcess[str]:
        """Run a race to its end: it is settled, or a limit is reached."""
        done = self("race", *arguments)
        assert done.returncode in (0, 3), done.stderr
        return done

    def refused(self, *arguments: Any) -> str:
        """Run a command that must fail with a message to the user, and return the message."""
        done = self(*arguments)
        assert done.returncode == 1, done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr

    @contextmanager
    def _as_if_alone(self, command: list[str]) -> Iterator[None]:
        """Undo all that a command changes in this process, as if it had a separate one."""
        importlib.invalidate_caches()
        with (
            chdir(self.folder),
            mock.patch.dict(os.environ, WIDE),
            mock.patch.object(sys, "argv", command),
            mock.patch.object(sys, "path", list(sys.path)),
        ):
            try:
                yield
            finally:
                for name, module in list(sys.modules.items()):
                    if str(getattr(module, "__file__", None)).startswith(str(self.folder)):
                        del sys.modules[name]  # The next command may find another file.

    def in_own_process(self, *arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a command to its end in a separate process."""
        options = {"capture_output": True, "text": True, "timeout": 600, **options}
        environment = {**os.environ, **WIDE}
        return subprocess.run(
            self.command(*arguments), cwd=self.folder, env=environment, check=False, **options
        )

    def together(self, *commands: list[str]) -> list[subprocess.CompletedProcess[str]]:
        """Run commands one after the other in one separate process."""
        code = (
            "import json, sys; from pathlib import Path; from tests.support import Project\n"
            "ended = [Project(Path.cwd())(*command) for command in json.loads(sys.argv[1])]\n"
            "print(json.dumps([[e.returncode, e.stdout, e.stderr] for e in ended]))"
        )
        process = subprocess.run(
            [sys.executable, "-c", code, json.dumps(commands)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert process.returncode == 0, process.stderr
        endings = json.loads(process.stdout.splitlines()[-1])
        return [
            subprocess.CompletedProcess(command, *ending)
            for command, ending in zip(commands, endings, strict=True)
        ]

    def python(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run a Python script in the folder, to its end."""
        return subprocess.run(
            [sys.executable, script],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def json(self, *arguments: Any) -> Any:
        """Run a command with --json that must succeed, and read its answer."""
        return json.loads(self.done(*arguments, "--json").stdout)

    def command(self, *arguments: Any) -> list[str]:
        return [sys.executable, "-m", "polarbear", *map(str, arguments)]

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command in a separate process group, and do not wait for its end."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=_hears_hangups,
        )


def _hears_hangups() -> None:
    """Undo the effect of nohup on tests: a child would inherit that the signal is ignored."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def exit_code_of_main() -> int:
    """The exit code of the command line; prints an error that is not caught, as Python does."""
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except Exception:
        traceback.print_exc()
        return 1
    return 0


def no_space(*_: object, **options: object) -> None:
    """Fails as functions of the operating system do on a full disk."""
    raise OSError(errno.ENOSPC, "No space left on device")


def keep_posterior(store: StoreOnDisk, names: list[str] | None = None, **options: Any) -> str:
    """Infer from the runs of a store, keep the posterior, and return its key."""
    evidence = evidence_of(store, names)
    posterior = cached_posterior(store, evidence, ModelOptions(**options), seed=1)
    with store.writing():
        store_posterior(store, evidence, posterior)
    return posterior.key


def inferred_from(
    positions: np.ndarray, options: ModelOptions, seed: int = 1, weights: np.ndarray | None = None
) -> Posterior:
    """The posterior of positions[instance, algorithm, time] on a grid from 0 to 1."""
    times = np.linspace(0, 1, positions.shape[2]) if positions.shape[2] > 1 else np.zeros(1)
    sets = count_choice_sets(positions, weights)
    return infer(sets, times, options, seed, positions=positions, weights=weights)


def posterior_of(theta: np.ndarray, **changes: Any) -> Posterior:
    """A Plackett-Luce posterior of these draws[draw, time, algorithm], with all checks passed."""
    fine = Diagnostics(1.0, float(len(theta)), float(len(theta)), 0, None, None, 1)
    times = np.linspace(0, 1, theta.shape[1])
    posterior = Posterior(
        theta=theta,
        algorithms=tuple(f"algorithm {i + 1}" for i in range(theta.shape[2])),
        times=times,
        unit_times=times,
        chains=1,
        options=ModelOptions(),
        engine="native",
        method="split-hmc",
        seed=0,
        seconds=0.0,
        diagnostics=fine,
        joint=False,
    )
    return replace(posterior, **changes)
