"""Stan programs as stanc likes them, and what is kept of them once compiled."""

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from polarbear.errors import StanError
from polarbear.inference.stan import cmdstan, programs

from .test_stan_toolchain import fake_cmdstan

SOURCES = programs.sources()
FILES = [*sorted(SOURCES.glob("*.stan")), *sorted(SOURCES.glob("functions/*.stanfunctions"))]


def stanc(*arguments):
    command = [cmdstan.find().stanc, f"--include-paths={SOURCES}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_program_is_a_models_and_every_one_that_a_model_names_is_there():
    files = {programs.program_file(model).name for model in programs.programmed_models()}
    assert files == {path.name for path in SOURCES.glob("*.stan")}


@pytest.mark.stan
@pytest.mark.parametrize("model", programs.programmed_models())
def test_programs_give_stanc_nothing_to_warn_of(model, tmp_path):
    done = stanc("--warn-pedantic", f"--o={tmp_path / 'out.hpp'}", programs.program_file(model))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.stan
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_programs_are_formatted_as_stanc_does(file):
    assert stanc("--auto-format", file).stdout == file.read_text()


@pytest.mark.stan
def test_a_program_that_does_not_compile_is_quoted_in_stancs_words(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    program = tmp_path / "broken.stan"
    program.write_text("parameters { real x; }\nmodel { x ~ normal(0, y); }\n")
    with pytest.raises(StanError, match="does not compile") as caught:
        programs.compiled(program, cmdstan.find())
    assert "Identifier 'y' not in scope" in str(caught.value)
    assert "line 2" in str(caught.value)
    assert list((tmp_path / "cache" / "polarbear" / "stan").glob("*/")) == []


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    """A cache, a program, and a compiler that only counts how often it is called."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CXX", "true")
    made = []

    def compile_(program: Path, folder: Path, found: object) -> Path:
        made.append(program)
        executable = folder / program.stem
        executable.write_text(program.read_text() * 1000)
        executable.chmod(0o755)
        return executable

    monkeypatch.setattr(programs, "_compile", compile_)
    program = tmp_path / "programs" / "model.stan"
    (program.parent / "functions").mkdir(parents=True)
    program.write_text("// one\n")
    found = cmdstan.CmdStan(fake_cmdstan(tmp_path / "cmdstan", "2.39.0"), (2, 39))
    return program, found, made


def test_only_another_content_include_compiler_or_setting_is_compiled_again(workshop, monkeypatch):
    program, found, made = workshop
    assert programs.compiled(program, found) == programs.compiled(program, found)
    program.write_text("// two\n")
    programs.compiled(program, found)
    (program.parent / "functions" / "more.stanfunctions").write_text("// shared\n")
    programs.compiled(program, found)
    (found.path / "make").mkdir()
    (found.path / "make" / "local").write_text("O = 1\n")
    programs.compiled(program, found)
    monkeypatch.setenv("CXX", "make")
    programs.compiled(program, found)
    assert len(made) == 5


@pytest.mark.parametrize("harm", ["gone", "not executable"])
def test_a_broken_entry_is_compiled_again(workshop, harm):
    program, found, made = workshop
    executable = programs.compiled(program, found)
    whole = executable.read_bytes()
    if harm == "gone":
        executable.unlink()
    else:
        executable.chmod(0o644)
    assert programs.compiled(program, found).read_bytes() == whole
    assert len(made) == 2


def test_calls_that_want_the_same_program_wait_for_the_first(workshop, monkeypatch):
    program, found, made = workshop
    compile_ = programs._compile

    def slowly(*given):
        time.sleep(0.2)
        return compile_(*given)

    monkeypatch.setattr(programs, "_compile", slowly)
    with ThreadPoolExecutor(3) as pool:
        assert len(set(pool.map(lambda _: programs.compiled(program, found), range(3)))) == 1
    assert len(made) == 1


def test_a_cache_that_cannot_be_written_is_named(workshop, tmp_path, monkeypatch):
    program, found, _ = workshop
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(StanError, match="cache of compiled Stan programs, .*XDG_CACHE_HOME"):
        programs.compiled(program, found)
