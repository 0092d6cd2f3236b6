"""Every figure on every kind of store: it draws without a fault, or says why it cannot."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from polarbear.report.figures import FIGURES, ratings
from polarbear.report.figures.figure_files import on_canvas, rendered
from polarbear.report.figures.style import Style
from tests.report import stores
from tests.report.layout import look_at

ALL_KINDS = [*stores.KINDS, "looking back"]
MISSING = {
    ("one algorithm", "ratings"): "nothing has been inferred yet",
    ("runs only", "rounds"): "no race was run in this store",
    ("one algorithm", "matrix"): "nothing has been inferred yet",
    ("inferred", "rounds"): "no race was run in this store",
    ("raced", "kinds"): "the instances are not of several kinds",
    ("one algorithm", "kinds"): "there is only one algorithm",
    ("raced", "failures"): "no run has failed",
    ("looking back", "leaders"): "draws are kept of the last round only, not of round 1",
    ("raced", "fronts"): "the problems have one objective",
    ("objectives", "ratings"): "there are no shares of firsts",
    ("one time", "values"): "good is the only candidate, whatever the preference",
    ("looking back", "values"): "draws are kept of the last round only, not of round 1",
}
CLASSICAL = {"ecdf", "aocc", "eaf", "eaf-difference"}  # figures of values
OF_FRONTS = {"duel-shares", "fronts", "surfaces", "surface-difference"}
OF_DESIGNS = {"search", "configurations", "importance"}  # drawn in tests/api/test_design.py
OURS = set(FIGURES) - CLASSICAL - OF_FRONTS - OF_DESIGNS - {"kinds", "feasible"}
OF_ROUNDS = {"failures", "rounds", "key-rounds"}
THERE = {
    "raced": OURS - {"failures"},
    "one round": OURS - {"failures"},
    "one time": OURS - {"failures", "values"},
    "joint": OURS - {"failures"},
    "failures": OURS | CLASSICAL,
    "runs only": OURS - OF_ROUNDS - {"diagnostics"},
    "one algorithm": {"allocation"},
    "two folders": (OURS | CLASSICAL | {"kinds"}) - OF_ROUNDS - {"diagnostics"},
    "constraints": (OURS | CLASSICAL | {"feasible"}) - OF_ROUNDS - {"diagnostics"},
    "objectives": (OURS | OF_FRONTS) - OF_ROUNDS - {"diagnostics", "ratings"},
    "inferred": OURS - OF_ROUNDS,
    "hostile names": OURS - OF_ROUNDS,
    "twenty algorithms": OURS - OF_ROUNDS,
    "looking back": OURS - {"failures", "leaders", "one-budget", "values"},
}
# Stores that make drawing hard are drawn in full, the others once for each figure.
HARD = ("failures", "hostile names", "twenty algorithms", "one time")
DRAWN = [(kind, name) for kind in HARD for name in FIGURES if name in THERE[kind]] + [
    ("raced", "rounds"),
    ("raced", "diagnostics"),
    ("one round", "matrix"),
    ("one round", "allocation"),
    ("joint", "key-rounds"),
    ("joint", "values"),
    ("inferred", "leaders"),
    ("inferred", "one-budget"),
    ("runs only", "ratings"),
    ("looking back", "pairs"),
    ("one algorithm", "allocation"),
    ("two folders", "kinds"),
    ("constraints", "feasible"),
    *(("objectives", name) for name in sorted(OF_FRONTS)),
]
STYLES = (
    {"width": "single"},
    {"theme": "dark"},
    {"width": "single", "theme": "print", "time_axis": "log"},
)
TO_CSV = [("raced", name) for name in sorted(OURS - {"failures"})] + [
    ("failures", "failures"),
    *(("failures", name) for name in sorted(CLASSICAL)),
    ("hostile names", "ratings"),
    ("two folders", "kinds"),
    ("constraints", "feasible"),
    *(("objectives", name) for name in sorted(OF_FRONTS)),
]


def test_names_and_titles_tell_figures_apart():
    assert all(name == figure.name for name, figure in FIGURES.items())
    assert len({figure.title for figure in FIGURES.values()}) == len(FIGURES)


@pytest.mark.parametrize("kind", ["raced", "one round", "one time", "failures"])
def test_shares_of_firsts_sum_to_one_among_those_of_whom_the_caption_says_so(kind, kinds):
    context = kinds[kind]
    shares = ratings.data(context)
    if ratings.field_of_firsts(context):
        assert not shares["in"].all()
        assert "At each time the means sum to one" not in ratings.caption(context)
        shares = shares.filter(pl.col("in"))
    sums = shares.group_by("t").agg(pl.col("mean").sum())["mean"]
    np.testing.assert_allclose(sums, 1, atol=0.01)


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_what_is_there_is_drawn_and_what_is_not_is_explained(kind, kinds):
    context = kinds[kind]
    reasons = {name: FIGURES[name].missing(context) for name in FIGURES}
    assert {name for name, reason in reasons.items() if reason is None} == THERE[kind]
    for (where, name), words in MISSING.items():
        if where == kind:
            assert words in str(reasons[name])


@pytest.mark.slow
@pytest.mark.parametrize(("number", "kind", "name"), [(i, *case) for i, case in enumerate(DRAWN)])
def test_nothing_is_cut_covered_or_empty(number, kind, name, kinds):
    assert look_at(name, kinds[kind], **STYLES[number % len(STYLES)]) == []


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_time_is_on_the_scale_that_is_asked_for(scale, raced):
    figure = FIGURES["ratings"]
    style = Style(time_axis=scale)
    with on_canvas(style) as canvas:
        figure.draw(canvas, figure.data(raced), raced, style)
        assert canvas.axes[0].get_xscale() == scale


def test_beyond_sixteen_algorithms_leaders_are_named_and_the_others_are_grey(kinds):
    context = kinds["twenty algorithms"]
    style = Style()
    data = FIGURES["ratings"].data(context)
    best = data.group_by("algorithm").agg(pl.col("mean").max()).sort("mean", descending=True)
    with on_canvas(style) as canvas:
        FIGURES["ratings"].draw(canvas, data, context, style)
        (legend,) = canvas.legends
        legend_names = [text.get_text().strip("()") for text in legend.get_texts()]
        looks = {(line.get_color(), str(line._dash_pattern)) for line in legend.get_lines()}
    assert set(legend_names) == {
        *(context.labels[name] for name in best["algorithm"][:16]),
        "4 others",
    }
    assert len(looks) == 17


@pytest.mark.parametrize(("kind", "name"), TO_CSV)
def test_data_is_long_and_survives_csv(kind, name, kinds):
    data = FIGURES[name].data(kinds[kind])
    assert len(data) > 0
    assert not any(column.dtype.is_nested() for column in data)
    table_read = pl.read_csv(data.write_csv().encode(), schema=data.schema)
    assert table_read.equals(data)
    assert FIGURES[name].caption(kinds[kind]).endswith(".")


def test_every_figure_and_every_kind_of_store_is_drawn_somewhere():
    assert {name for _, name in DRAWN} == {name for _, name in TO_CSV} == set(FIGURES) - OF_DESIGNS
    assert {kind for kind, _ in DRAWN} == set(ALL_KINDS)


@pytest.mark.parametrize("name", ["ratings", "leaders", "matrix", "pairs", "values", "diagnostics"])
def test_ratings_that_are_the_same_in_every_draw_can_be_drawn(name, kinds):
    context = kinds["inferred"]
    basis = context.basis
    assert basis is not None
    theta = np.full_like(basis.posterior.theta, 0.5)
    posterior = replace(basis.posterior, theta=theta)
    if posterior.wins is not None:
        posterior = replace(posterior, wins=np.full_like(posterior.wins, 0.5))
    flat = replace(context, basis=replace(basis, posterior=posterior))
    assert look_at(name, flat, width="single") == []
    if name == "leaders":
        assert FIGURES[name].data(flat)["p_best"].to_list() == [0.5] * 4


def test_full_names_are_in_the_data_and_short_ones_in_the_drawing(kinds):
    context = kinds["hostile names"]
    data = FIGURES["ratings"].data(context)
    assert set(data["algorithm"]) == set(stores.HOSTILE)
    picture = rendered(FIGURES["ratings"], data, context, Style(), "svg").decode()
    assert "longlonglonglonglonglonglonglong" not in picture
    assert "<script" not in picture
    assert "&lt;script&gt;" in picture  # as text, which harms nobody
    assert "$x_1$" in picture  # not as mathematics
    document = rendered(FIGURES["ratings"], data, context, Style(), "pdf")
    assert document.startswith(b"%PDF")
    for action in (b"/JavaScript", b"/JS", b"/URI", b"/Launch", b"/OpenAction", b"/EmbeddedFile"):
        assert action not in document


@pytest.mark.parametrize("name", ["ratings", "matrix", "pairs", "rounds"])
def test_a_round_whose_posterior_was_not_to_be_trusted_can_be_drawn(name, raced):
    last = raced.rounds[-1]
    unknown = np.full_like(last.estimates.above, np.nan)
    estimates = last.estimates._replace(above=unknown, alike=unknown)
    blind = replace(last, estimates=estimates, record=last.record._replace(threats={}))
    context = replace(raced, rounds=(*raced.rounds[:-1], blind))
    assert FIGURES[name].missing(context) is None
    assert look_at(name, context, width="single") == []
    if name != "ratings":
        column = {"matrix": "probability", "pairs": "p_above", "rounds": "probability"}[name]
        assert FIGURES[name].data(context)[column].null_count() > 0


def test_pairs_of_which_nothing_is_known_are_not_drawn(kinds):
    only = kinds["one round"].rounds[0]
    unknown = np.full_like(only.estimates.above, np.nan)
    estimates = only.estimates._replace(above=unknown, alike=unknown)
    state = replace(only.state, settled=np.zeros_like(only.state.settled), eliminated=())
    record = only.record._replace(state=state)
    blind = replace(kinds["one round"], rounds=(replace(only, estimates=estimates, record=record),))
    assert "nothing is known about pairs" in str(FIGURES["pairs"].missing(blind))
