"""Version and commit of PolarBear."""

import subprocess
from pathlib import Path

import pytest

from polarbear import __version__
from polarbear.cli import version


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package, in a folder that is no repository."""
    folder = tmp_path / "site-packages" / "polarbear"
    folder.mkdir(parents=True)
    monkeypatch.setattr(version, "PACKAGE", folder)
    return folder


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
    command = ["git", "-C", str(folder), *who, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_built_package_knows_the_commit_it_was_built_from(package: Path):
    assert version.version_and_commit() == f"polarbear {__version__}"
    (package / version.COMMIT_FILE).write_text("0123abc\n")
    assert version.version_and_commit() == f"polarbear {__version__} (commit 0123abc)"


def test_a_checkout_says_where_it_is_and_whether_files_were_changed(package: Path):
    git(package.parent, "init", "--quiet")
    (package / "a.py").write_text("1\n")
    git(package.parent, "add", ".")
    git(package.parent, "commit", "--quiet", "-m", "first")
    commit = git(package.parent, "rev-parse", "--short", "HEAD")
    assert version.version_and_commit() == f"polarbear {__version__} (commit {commit})"
    (package / "a.py").write_text("2\n")
    assert version.version_and_commit() == f"polarbear {__version__} (commit {commit}-dirty)"


def test_another_repository_is_not_taken_for_that_of_polarbear(package: Path):
    git(package.parents[1], "init", "--quiet")
    (package / "a.py").write_text("1\n")
    git(package.parents[1], "add", ".")
    git(package.parents[1], "commit", "--quiet", "-m", "mine")
    assert version.version_and_commit() == f"polarbear {__version__}"
