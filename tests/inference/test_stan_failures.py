"""Failures of a running Stan program end in one message."""

import signal
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil
import pytest

from polarbear.errors import StanError
from polarbear.inference import ModelOptions, infer
from polarbear.inference.stan import cmdstan, engine, programs

from .test_infer import GRID, random_sets
from .test_stan_toolchain import fake_cmdstan

LONG_RUN = ModelOptions(model="dirichlet", engine="stan", draws=4_000_000, chains=2)


def temporary_folders():
    """The temporary folders of the Stan engine that exist."""
    return set(Path(tempfile.gettempdir()).glob("polarbear-stan-*"))


@pytest.mark.stan
def test_a_killed_chain_is_named_and_no_temporary_folder_remains(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    programs.compiled(programs.program_file("dirichlet"), cmdstan.find())

    def is_second_chain(process: psutil.Process) -> bool:
        try:
            return "id=2" in process.cmdline()
        except psutil.NoSuchProcess:
            return False

    def kill_the_chains() -> None:
        for _ in range(2000):
            children = psutil.Process().children(recursive=True)
            if any(is_second_chain(child) for child in children):
                for child in psutil.Process().children(recursive=True):
                    with suppress(psutil.NoSuchProcess):
                        child.send_signal(signal.SIGKILL)
                return
            time.sleep(0.02)

    killer = threading.Thread(target=kill_the_chains)
    killer.start()
    with pytest.raises(StanError, match="'dirichlet' ended without result.*chain 2: killed by sig"):
        infer(random_sets(), GRID, LONG_RUN)
    killer.join()
    assert temporary_folders() == set()


@pytest.mark.stan
def test_a_program_that_refuses_its_data_is_quoted(monkeypatch):
    stan_data = engine.stan_data

    def with_negative_wins(model, sets):
        return {**stan_data(model, sets), "wins": (-sets.wins.T).tolist()}

    monkeypatch.setattr(engine, "stan_data", with_negative_wins)
    with pytest.raises(StanError, match="Its last output: .*wins"):
        infer(random_sets(), GRID, ModelOptions(model="dirichlet", engine="stan"))


@pytest.fixture
def fake_program(tmp_path, monkeypatch):
    """A function that writes a shell script, which takes the place of a compiled program."""
    monkeypatch.setenv("CMDSTAN", str(fake_cmdstan(tmp_path / "cmdstan", "2.39.0")))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    script = tmp_path / "program"
    monkeypatch.setattr(programs, "compiled", lambda program, toolchain: script)

    def write(body: str) -> None:
        version = "echo stan_version_major = 2; echo stan_version_minor = 39"
        script.write_text(f'#!/bin/sh\n[ "$1" = info ] && {{ {version}; exit 0; }}\n{body}\n')
        script.chmod(0o755)

    return write


@pytest.mark.parametrize("method", ["mcmc", "laplace"])
def test_a_full_temporary_folder_is_named(fake_program, tmp_path, method):
    fake_program("echo 'Error: cannot write to x.csv: is the disk full?'; exit 74")
    options = ModelOptions(model="dirichlet", engine="stan", method=method)
    message = f"cannot write to the temporary folder {tmp_path} .no space left.*TMPDIR"
    with pytest.raises(StanError, match=message):
        infer(random_sets(), GRID, options)


def test_a_missing_temporary_folder_is_named(fake_program, monkeypatch, tmp_path):
    fake_program("exit 0")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(StanError, match="temporary folder .*missing .No such file"):
        infer(random_sets(), GRID, ModelOptions(model="dirichlet", engine="stan"))


@pytest.mark.parametrize("method", ["mcmc", "pathfinder", "advi-meanfield"])
def test_the_error_of_a_failing_program_is_quoted_for_every_method(fake_program, method):
    fake_program("echo 'Error: the moon is in the wrong phase'; exit 70")
    options = ModelOptions(model="dirichlet", engine="stan", method=method)
    with pytest.raises(StanError, match=f"during '{method}'.*the moon is in the wrong phase"):
        infer(random_sets(), np.asarray(GRID), options)
