"""Examples: those of two pages, each as one script, and those of every docstring."""

import doctest
import inspect
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import polarbear as pb
from tests.support import Project

DOCS = Path(__file__).parents[2] / "docs"

CONFIG = {
    "algorithms": [
        {"name": "A", "use": "random-search"},
        {"name": "B", "use": "scipy", "method": "nelder-mead"},
        {"name": "C", "use": "scipy", "method": "powell"},
    ],
    "instances": {"suite": "classic", "dimensions": {"from": 2, "to": 3}},
    "budget": {"grid": [10, 100, 1000]},
    "race": {"regret": None, "limits": {"instances": 16}},
}


@pytest.mark.parametrize(
    ("page", "written"),
    [
        pytest.param("reference/python.md", "page.html", marks=pytest.mark.peer),  # uses ArviZ
        pytest.param("how-to/notebook.md", "climbing-code/climb.py", marks=pytest.mark.slow),
    ],
)
def test_the_documented_examples_run(tmp_path: Path, page: str, written: str):
    project = Project(tmp_path)
    project.configure(**CONFIG)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    assert len(blocks) > 2
    (tmp_path / "examples.py").write_text("\n".join(blocks))
    done = project.python("examples.py")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / written).exists()
    assert ("NOT ELIMINATED" in done.stdout.upper()) == ("print(report.text())" in "".join(blocks))


def public_functions() -> dict[str, Callable[..., object]]:
    """The functions of the package, and the methods of its classes."""
    owners = {"": pb, "Store.": pb.Store, "Posterior.": pb.Posterior, "Listener.": pb.Listener}
    functions = {}
    for prefix, owner in owners.items():
        for name in dir(owner):
            attribute = getattr(owner, name)
            if not name.startswith("_") and inspect.isfunction(attribute):
                functions[f"{prefix}{name}"] = attribute
    return functions


@pytest.fixture(scope="module")
def raced_folder(tmp_path_factory: pytest.TempPathFactory) -> tuple[pb.Config, Path]:
    """A configuration, and the folder of its race."""
    config = pb.Config(
        algorithms=[
            pb.adapters.RandomSearch(name="random"),
            pb.adapters.Scipy(name="powell", method="powell"),
        ],
        instances=pb.suites.Classic(dimensions={"from": 2, "to": 3}),
        budget=pb.Budget(grid=[100, 1000]),
        race=pb.Rules(limits={"instances": 24}),
    )
    return config, pb.race(config, tmp_path_factory.mktemp("examples") / "results").path


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.peer if name == "Posterior.to_arviz" else ())
        for name in [*public_functions(), "Listener"]
    ],
)
def test_a_public_function_documents_its_arguments_and_its_example_runs(
    name: str, raced_folder: tuple[pb.Config, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    function = public_functions().get(name, pb.Listener)
    about = inspect.getdoc(function) or ""
    parameters = list(inspect.signature(function).parameters)
    documented_parameters = parameters[1:] if "." in name else parameters  # without self
    assert [
        parameter for parameter in documented_parameters if f"``{parameter}``" not in about
    ] == []
    monkeypatch.chdir(tmp_path)
    config, folder = raced_folder
    shutil.copytree(folder, "results")
    store = pb.open("results")
    names = {"pb": pb, "pl": pl, "config": config, "store": store, "posterior": store.infer()}
    example = doctest.DocTestParser().get_doctest(about, names, name, None, None)
    assert example.examples or name.startswith("Listener.")
    printed: list[str] = []
    assert doctest.DocTestRunner().run(example, out=printed.append).failed == 0, "".join(printed)
