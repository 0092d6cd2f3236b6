"""Stan programs: their form, and the cache of compiled programs."""

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


def test_programs_of_models_are_the_programs_in_the_folder():
    files = {programs.program_file(model).name for model in programs.programmed_models()}
    assert files == {path.name for path in SOURCES.glob("*.stan")}


@pytest.mark.stan
@pytest.mark.parametrize("model", programs.programmed_models())
def test_stanc_compiles_programs_without_a_warning(model, tmp_path):
    process = stanc("--warn-pedantic", f"--o={tmp_path / 'out.hpp'}", programs.program_file(model))
    assert process.returncode == 0, process.stderr
    assert process.stderr == ""


@pytest.mark.stan
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_programs_have_the_format_of_stanc(file):
    assert stanc("--auto-format", file).stdout == file.read_text()


@pytest.mark.stan
def test_the_error_of_a_program_that_does_not_compile_quotes_stanc(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    program = tmp_path / "broken.stan"
    program.write_text("parameters { real x; }\nmodel { x ~ normal(0, y); }\n")
    with pytest.raises(StanError, match="does not compile") as caught:
        programs.compiled(program, cmdstan.find())
    assert "Identifier 'y' not in scope" in str(caught.value)
    assert "line 2" in str(caught.value)
    assert list((tmp_path / "cache" / "polarbear" / "stan").glob("*/")) == []


@pytest.fixture
def fake_compilation(tmp_path, monkeypatch):
    """A program, a CmdStan, and the list of programs that a fake compiler has compiled."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CXX", "true")
    compiled_programs = []

    def compile_(program: Path, folder: Path, cmdstan: object) -> Path:
        compiled_programs.append(program)
        executable = folder / program.stem
        executable.write_text(program.read_text() * 1000)
        executable.chmod(0o755)
        return executable

    monkeypatch.setattr(programs, "_compile", compile_)
    program = tmp_path / "programs" / "model.stan"
    (program.parent / "functions").mkdir(parents=True)
    program.write_text("// one\n")
    toolchain = cmdstan.CmdStan(fake_cmdstan(tmp_path / "cmdstan", "2.39.0"), (2, 39))
    return program, toolchain, compiled_programs


def test_only_a_change_of_program_include_compiler_or_setting_is_compiled_again(
    fake_compilation, monkeypatch
):
    program, toolchain, compiled_programs = fake_compilation
    assert programs.compiled(program, toolchain) == programs.compiled(program, toolchain)
    program.write_text("// two\n")
    programs.compiled(program, toolchain)
    (program.parent / "functions" / "more.stanfunctions").write_text("// shared\n")
    programs.compiled(program, toolchain)
    (toolchain.path / "make").mkdir()
    (toolchain.path / "make" / "local").write_text("O = 1\n")
    programs.compiled(program, toolchain)
    monkeypatch.setenv("CXX", "make")
    programs.compiled(program, toolchain)
    assert len(compiled_programs) == 5


@pytest.mark.parametrize("damage", ["deleted", "not executable"])
def test_a_damaged_entry_of_the_cache_is_compiled_again(fake_compilation, damage):
    program, toolchain, compiled_programs = fake_compilation
    executable = programs.compiled(program, toolchain)
    original = executable.read_bytes()
    if damage == "deleted":
        executable.unlink()
    else:
        executable.chmod(0o644)
    assert programs.compiled(program, toolchain).read_bytes() == original
    assert len(compiled_programs) == 2


def test_simultaneous_calls_compile_the_same_program_once(fake_compilation, monkeypatch):
    program, toolchain, compiled_programs = fake_compilation
    compile_ = programs._compile

    def compile_slowly(*arguments):
        time.sleep(0.2)
        return compile_(*arguments)

    monkeypatch.setattr(programs, "_compile", compile_slowly)
    with ThreadPoolExecutor(3) as pool:
        calls = [pool.submit(programs.compiled, program, toolchain) for _ in range(3)]
        executables = {call.result() for call in calls}
    assert len(executables) == 1
    assert len(compiled_programs) == 1


def test_the_error_of_an_unwritable_cache_names_it(fake_compilation, tmp_path, monkeypatch):
    program, toolchain, _ = fake_compilation
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(StanError, match="cache of compiled Stan programs, .*XDG_CACHE_HOME"):
        programs.compiled(program, toolchain)
