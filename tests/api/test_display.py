"""Objects at a prompt and in a notebook: a line, a short table, a figure, never an array."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from matplotlib.figure import Figure

import polarbear as pb
from polarbear.api import store_status
from polarbear.records import html_table
from polarbear.report.figures import FIGURES
from tests.formats.helpers import numbered_store

OBJECTS: dict[str, Callable[[pb.Store, pb.Store], Any]] = {
    "store": lambda raced, measured: raced,
    "result": lambda raced, measured: raced.result,
    "posterior": lambda raced, measured: raced.infer(model="random-walk", draws=1000),
    "standings": lambda raced, measured: raced.standings(),
    "selection": lambda raced, measured: raced.select(portfolio=2, sweep=True, all=True),
    "comparison": lambda raced, measured: measured.compare(["A", "B"], bootstrap=200),
    "report": lambda raced, measured: raced.report(),
    "duels": lambda raced, measured: measured.duels("A", "B"),
    "status": lambda raced, measured: store_status.status(raced.path),
    "facts": lambda raced, measured: raced.infer().facts(),
}
TABLES = sorted(set(OBJECTS) - {"facts"})


@pytest.mark.parametrize("kind", sorted(OBJECTS))
def test_at_a_prompt_an_object_is_one_line(raced: pb.Store, measured: pb.Store, kind: str):
    line = repr(OBJECTS[kind](raced, measured))
    assert "\n" not in line
    assert line.startswith("<")
    assert line.endswith(">")
    assert len(line) < 400
    assert "array(" not in line


@pytest.mark.parametrize("kind", TABLES)
def test_in_a_notebook_an_object_is_a_short_table_with_names_escaped(raced, measured, kind):
    html = OBJECTS[kind](raced, measured)._repr_html_()
    assert "<td>A</td>" in html
    assert "<b>C</b>" not in html
    assert html.count("<tr>") <= 12
    assert len(html) < 6000
    assert "array(" not in html


def test_the_result_of_an_import_is_one_line(tmp_path: Path):
    (tmp_path / "t.csv").write_text("algorithm,instance,t,y\nA,i,1,5\nB,i,1,6\n")
    store = pb.import_data(tmp_path / "t.csv", tmp_path / "s")
    added = f"2 runs of 2 algorithms on 1 instance added to {store.path}"
    assert repr(store.result) == f"<ImportResult: {added}>"
    assert repr(store) == (
        f"<Store {str(store.path)!r}: 2 algorithms, 1 instance, 1 time up to 1 evaluation>"
    )


def test_a_long_table_is_cut_and_says_so():
    html = html_table("many", [{"n": i} for i in range(50)])
    assert html.count("<tr>") == 21
    assert "and 30 more" in html


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> pb.Store:
    store = pb.open(numbered_store(tmp_path_factory.mktemp("stores") / "s").path)
    store.infer()
    return store


@pytest.mark.slow
def test_every_figure_of_the_report_can_be_plotted_or_is_refused_with_the_reason(store, tmp_path):
    written = store.report(png=tmp_path / "figures").written
    drawn = {Path(path).stem for path in written if str(path).endswith(".png")}
    assert sorted(dir(store.plot)) == sorted(name.replace("-", "_") for name in FIGURES)
    for name in FIGURES:
        plot = getattr(store.plot, name.replace("-", "_"))
        if name in drawn:
            assert isinstance(plot(), Figure)
        else:
            with pytest.raises(pb.ReportError, match=f"no figure '{name}' for this store"):
                plot()


def test_a_plot_takes_options_and_leaves_matplotlib_alone(store: pb.Store):
    before = dict(matplotlib.rcParams)
    figure = store.plot("leaders", theme="dark", width="double")
    assert dict(matplotlib.rcParams) == before
    assert figure.get_size_inches()[0] > store.plot.leaders().get_size_inches()[0]
    assert figure._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(AttributeError, match="figures: .*leaders"):
        store.plot.leader()
