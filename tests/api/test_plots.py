"""Figures of a store as Matplotlib figures."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import pytest
from matplotlib.figure import Figure

import polarbear as pb
from polarbear.report.figures import FIGURES
from tests.formats.helpers import numbered_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> pb.Store:
    store = pb.open(numbered_store(tmp_path_factory.mktemp("stores") / "s").path)
    store.infer()
    return store


def test_every_figure_of_the_report_can_be_plotted_or_says_why_not(store: pb.Store, tmp_path: Path):
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
