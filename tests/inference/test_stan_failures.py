"""Each failure of a Stan program ends in one message."""

import signal
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from polarbear.errors import StanError
from polarbear.inference import ModelOptions, infer
from polarbear.inference.stan import cmdstan, engine, programs

from .test_infer import GRID, random_sets
from .test_stan_toolchain import fake_cmdstan

MANY = ModelOptions(model="dirichlet", engine="stan", draws=4_000_000, chains=2)


def leftovers():
    return set(Path(tempfile.gettempdir()).glob("polarbear-stan-*"))


@pytest.mark.stan
def test_a_chain_that_dies_is_named_and_nothing_stays_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    programs.compiled(programs.program_file("dirichlet"), cmdstan.find())

    def kill_the_second_chain() -> None:
        for _ in range(2000):
            for child in psutil.Process().children(recursive=True):
                try:
                    if "id=2" in child.cmdline():
                        for one in psutil.Process().children(recursive=True):
                            one.send_signal(signal.SIGKILL)
                        return
                except psutil.NoSuchProcess:
                    continue
            time.sleep(0.02)

    killer = threading.Thread(target=kill_the_second_chain)
    killer.start()
    with pytest.raises(StanError, match="'dirichlet' ended without result.*chain 2: killed by sig"):
        infer(random_sets(), GRID, MANY)
    killer.join()
    assert leftovers() == set()


@pytest.mark.stan
def test_a_program_that_refuses_its_data_is_quoted(monkeypatch):
    def negative(model, sets):
        return {**given(model, sets), "wins": (-sets.wins.T).tolist()}

    given = engine.stan_data
    monkeypatch.setattr(engine, "stan_data", negative)
    with pytest.raises(StanError, match="Its last output: .*wins"):
        infer(random_sets(), GRID, ModelOptions(model="dirichlet", engine="stan"))


@pytest.fixture
def fake_program(tmp_path, monkeypatch):
    """A compiled program that is a shell script."""
    monkeypatch.setenv("CMDSTAN", str(fake_cmdstan(tmp_path / "cmdstan", "2.39.0")))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    script = tmp_path / "program"
    monkeypatch.setattr(programs, "compiled", lambda program, found: script)

    def write(body: str) -> None:
        version = "echo stan_version_major = 2; echo stan_version_minor = 39"
        script.write_text(f'#!/bin/sh\n[ "$1" = info ] && {{ {version}; exit 0; }}\n{body}\n')
        script.chmod(0o755)

    return write


@pytest.mark.parametrize("method", ["mcmc", "laplace"])
def test_a_program_that_finds_the_temporary_folder_full_says_so(fake_program, tmp_path, method):
    fake_program("echo 'Error: cannot write to x.csv: is the disk full?'; exit 74")
    options = ModelOptions(model="dirichlet", engine="stan", method=method)
    message = f"cannot write to the temporary folder {tmp_path} .no space left.*TMPDIR"
    with pytest.raises(StanError, match=message):
        infer(random_sets(), GRID, options)


def test_a_temporary_folder_that_is_not_there_is_named(fake_program, monkeypatch, tmp_path):
    fake_program("exit 0")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(StanError, match="temporary folder .*gone .No such file"):
        infer(random_sets(), GRID, ModelOptions(model="dirichlet", engine="stan"))


@pytest.mark.parametrize("method", ["mcmc", "pathfinder", "advi-meanfield"])
def test_a_program_that_fails_is_quoted_whatever_the_method(fake_program, method):
    fake_program("echo 'Error: the moon is in the wrong phase'; exit 70")
    options = ModelOptions(model="dirichlet", engine="stan", method=method)
    with pytest.raises(StanError, match=f"during '{method}'.*the moon is in the wrong phase"):
        infer(random_sets(), np.asarray(GRID), options)
