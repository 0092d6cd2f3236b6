"""Stores that several tests of commands read; those that write get a copy."""

import shutil

import pytest

from tests.support import Project, synthetic

OVER_TIME = {"early": [0.7, 0.4, 0.1], "late": [0.2, 0.4, 0.8], "never": [0.1, 0.2, 0.1]}
CONSTANT = {"A": 0.6, "B": 0.3, "C": 0.1}


def with_runs(folder: pytest.TempPathFactory, ratings: dict[str, object]) -> Project:
    """A store of runs on 60 instances, whose true ratings are known."""
    project = Project(folder.mktemp("runs"))
    project.configure(**synthetic(ratings, count=60), budget={"grid": [10, 100, 1000]})
    project.json("run", "config.yaml")
    return project


@pytest.fixture(scope="session")
def inferred(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A store with runs and a posterior, which nothing writes to."""
    project = with_runs(tmp_path_factory, dict(OVER_TIME))
    project.json("infer", "config", "--model", "dirichlet", "--method", "laplace", "--draws", 2000)
    return project


@pytest.fixture(scope="session")
def constant(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return with_runs(tmp_path_factory, dict(CONSTANT))


@pytest.fixture
def collected(project: Project, constant: Project) -> Project:
    """A copy of a store with runs of A, B and C, the first of which is the best."""
    shutil.copytree(constant.folder, project.folder, dirs_exist_ok=True)
    return project
