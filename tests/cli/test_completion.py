"""Completion in a shell: values of options, names of algorithms, and names of files."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import Project, solver

SECONDS_FOR_ANSWER = 60
# Answers requests of a shell; otherwise it prints the arguments that it was called with.
PROGRAM = f"""#!/bin/sh
if [ -n "$_POLARBEAR_COMPLETE" ] || [ "$1" = --show-completion ]; then
    exec "{sys.executable}" -m polarbear "$@"
fi
printf 'called with '
printf '<%s>' "$@"
echo
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a configuration, its store, and a program `polarbear`."""
    project = Project(tmp_path_factory.mktemp("completion"))
    algorithms = [solver("coordinate_descent", name) for name in ("random search", "CMA-ES")]
    project.configure(algorithms=algorithms)
    project.json("run", "config.yaml", "--instances", 1)
    program = project.folder / "bin" / "polarbear"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return project.folder


def offered(folder: Path, line: str, shell: str = "bash") -> list[str]:
    """The words that the program offers for the end of a line, by the protocol of a shell."""
    position = str(line.count(" "))
    request = {"_POLARBEAR_COMPLETE": f"complete_{shell}", "COMP_WORDS": line}
    environment = {**os.environ, **request, "COMP_CWORD": position, "_TYPER_COMPLETE_ARGS": line}
    completion = subprocess.run(
        [sys.executable, "-m", "polarbear"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert completion.stderr == ""
    return [word for word in completion.stdout.split("\n") if word]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("polarbear se", ["select"]),
        ("polarbear re", ["report", "rename", "repair"]),
        ("polarbear race c.yaml --fre", ["--fresh"]),
        ("polarbear select s --risk ", ["p2bb", "mean", "quantile", "regret"]),
        ("polarbear select s --preference wo", ["worst-case"]),
        ("polarbear infer s --engine ", ["native", "stan"]),
        ("polarbear infer s --method advi", ["advi-meanfield", "advi-fullrank"]),
        ("polarbear infer s --model h", ["hierarchical", "hsgp"]),
        ("polarbear select s --model emp", ["empirical"]),
        ("polarbear import x --format ", ["table", "rankings", "log", "ioh", "coco"]),
        ("polarbear export s --format p", ["parquet", "preflib"]),
        ("polarbear report s --only eaf", ["eaf", "eaf-difference"]),
        ("polarbear report s t --only d", ["duels"]),
        ("polarbear report s --theme p", ["print"]),
        ("polarbear stan ", ["install", "status"]),
        ("polarbear forget config --algorithm C", ["CMA-ES"]),
        ("polarbear forget config --algorithm r", ["random\\ search"]),
        ("polarbear infer config --algorithms CMA-ES,", ["CMA-ES,random\\ search"]),
        ("polarbear show config --pair C", ["CMA-ES"]),
        ("polarbear rename config C", ["CMA-ES"]),
        ("polarbear race config.yaml --rerun C", ["CMA-ES"]),
        ("polarbear race config.yaml --keep a", ["all"]),
        ("polarbear run config.yaml --repeat C", ["CMA-ES"]),
        ("polarbear gate config.yaml --baseline C", ["CMA-ES"]),
        ("polarbear merge config other --keep C", ["CMA-ES"]),
        ("polarbear forget no-such-store --algorithm C", []),
    ],
)
def test_an_option_offers_its_values(folder: Path, line: str, words: list[str]):
    completed = offered(folder, line)
    assert completed[: len(words)] == words
    assert bool(completed) == bool(words)


def test_where_a_file_is_expected_the_shell_is_told_to_complete_names_of_files(folder: Path):
    for line in ("polarbear race con", "polarbear report ", "polarbear race c --store "):
        assert offered(folder, line) == []
        assert offered(folder, line, "zsh") == ["_files"]


@pytest.mark.parametrize(
    ("keys", "arguments"),
    [
        ("polarbear sel\t", "<select>"),
        ("polarbear race quick\t", "<race><quick.yaml>"),
        ("polarbear race --store fold\t", "<race><--store><folder/>"),
        ("polarbear select config --risk q\t", "<select><config><--risk><quantile>"),
        (
            "polarbear forget config --algorithm ra\t",
            "<forget><config><--algorithm><random search>",
        ),
    ],
)
def test_an_interactive_bash_completes_values_and_names_of_files(
    folder: Path, keys: str, arguments: str
):
    (folder / "quick.yaml").touch()
    (folder / "folder").mkdir(exist_ok=True)
    assert f"called with {arguments}" in screen_of_bash(folder, keys)


def screen_of_bash(folder: Path, keys: str) -> str:
    """The screen of an interactive Bash in which completion is on, after keys and Enter."""
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "TERM": "dumb"}
    controller, terminal = pty.openpty()
    shell = subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"],
        cwd=folder,
        env=environment,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    os.close(terminal)
    try:
        switch_on = 'eval "$(polarbear --show-completion bash)"; echo completion is "on"\n'
        os.write(controller, switch_on.encode())
        read_until(controller, "completion is on")
        os.write(controller, f"{keys}\n".encode())
        return read_until(controller, "called with ", ">\r\n")
    finally:
        shell.kill()
        shell.wait()
        os.close(controller)


def read_until(terminal: int, *texts: str) -> str:
    """The output of a terminal up to texts in this order; the test fails if they do not come."""
    screen = ""
    end = time.monotonic() + SECONDS_FOR_ANSWER
    while not in_order(screen, texts):
        is_readable, _, _ = select.select([terminal], [], [], max(0.0, end - time.monotonic()))
        assert is_readable, screen
        screen += os.read(terminal, 4096).decode(errors="replace")
    return screen


def in_order(screen: str, texts: tuple[str, ...]) -> bool:
    """Whether a screen has all texts, one after the other."""
    for text in texts:
        _, separator, screen = screen.partition(text)
        if not separator:
            return False
    return True
