"""Runs the steps of workflows that pages of the documentation show, as GitHub and GitLab do."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import yaml

from docs import run_tutorials

DOCS = run_tutorials.TUTORIALS.parent
# Branches of the tutorial's repository: a command that makes the change, and the exit code.
BRANCHES = {
    "slower": ("sed -i.bak 's/0.995/1.0/' optimiser.py", 4),
    "comment": ("echo '# No change.' >> optimiser.py", 0),
    "refactor": ("sed -i.bak 's/moved/new_point/' optimiser.py", 0),
    "reseed": ("sed -i.bak 's/rng(seed)/rng(seed + 12345)/' optimiser.py", 0),
    "improvement": ("sed -i.bak 's/0.995/0.98/' optimiser.py", 0),
    "tolerated": ("sed -i.bak 's/= problem(x),/= [problem(x), problem(x)][1],/' optimiser.py", 0),
}
TARGET_BRANCHES = {
    "${{ github.base_ref }}": "main",
    "${{ github.event.number }}": "7",
    "${{ steps.upload.outputs.artifact-url }}": "https://example.org/artifact",
}
VARIABLES = {
    "GITHUB_SHA": "merged",
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
    "CI_JOB_URL": "https://example.org/job",
    "CI_API_V4_URL": "https://example.org/api",
    "CI_PROJECT_ID": "1",
    "CI_MERGE_REQUEST_IID": "7",
    "GATE_TOKEN": "secret",
}


def files_of(page: str) -> dict[str, str]:
    """The files that a page of the documentation shows, by their names."""
    text = (DOCS / page).read_text()
    return {file: content for _, file, content in run_tutorials.blocks(text) if file}


class Host:
    """A clone of the tutorial's repository, and the programs that a runner of a host provides.

    ``gh`` and ``curl`` write the comment that they post into posted.md, and their arguments.
    """

    def __init__(self, folder: Path) -> None:
        self.files = files_of("tutorials/pull-request.md")
        self.checkout = folder / "checkout"
        origin = folder / "origin"
        origin.mkdir()
        for name in ("optimiser.py", "gate.yaml"):
            (origin / name).write_text(self.files[name])
        programs = folder / "programs"
        programs.mkdir()
        post = 'cp comment.md posted.md && echo "$@" > arguments.txt'
        commands = {
            "polarbear": f'{shlex.quote(sys.executable)} -m polarbear "$@"',
            "pip": "true",
            "gh": post,
            "curl": post,
        }
        for name, command in commands.items():
            (programs / name).write_text(f"#!/bin/sh\n{command}\n")
            (programs / name).chmod(0o755)
        path = f"{programs}:{os.environ['PATH']}"
        self._environment = {**os.environ, **VARIABLES, "PATH": path}
        author = "-c user.name=a -c user.email=a@example.org"
        self.done(f"git init -q -b main && git add . && git {author} commit -qm start", origin)
        for branch, (change_command, _) in BRANCHES.items():
            self.done(f"git switch -qc {branch} main && {change_command}", origin)
            self.done(f"git {author} commit -qam {branch}", origin)
        self.done(f"git clone -q {origin} {self.checkout}", folder)

    def run(self, command: str, folder: Path | None = None) -> int:
        """The exit code of a step in the checkout; a failing line ends it, as on both hosts."""
        process = subprocess.run(
            ["bash", "-e", "-c", command],
            cwd=folder or self.checkout,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert process.returncode in (0, 4), process.stderr
        return process.returncode

    def done(self, command: str, folder: Path | None = None) -> None:
        assert self.run(command, folder) == 0

    def switch(self, branch: str) -> None:
        """Check out a branch as in a new job, of which only the cached store is kept."""
        self.done("git worktree remove --force baseline || true")
        self.done(f"git clean -qfdx -e gate && git switch -q {branch}")

    def github(self) -> int:
        """Run the GitHub workflow of the tutorial."""
        return self.steps(self.files[".github/workflows/anytime.yml"])

    def steps(self, workflow: str) -> int:
        """Run the steps of a GitHub workflow that are commands; the first failure counts."""
        (job,) = yaml.safe_load(workflow)["jobs"].values()
        exit_code = 0
        for step in job["steps"]:
            if "run" not in step or (exit_code and "always()" not in step.get("if", "")):
                continue
            command = step["run"]
            for variable, value in TARGET_BRANCHES.items():
                command = command.replace(variable, value)
            exit_code = self.run(command) or exit_code
        return exit_code

    def gitlab(self) -> int:
        """Run the GitLab job of the tutorial."""
        return self.script(self.files[".gitlab-ci.yml"])

    def script(self, jobs: str) -> int:
        """Run the script of a GitLab job up to its first failure, and the script after it."""
        (job,) = yaml.safe_load(jobs).values()
        exit_code = 0
        for command in job["script"]:
            exit_code = exit_code or self.run(command)
        for command in job.get("after_script", []):
            self.done(command)
        return exit_code
