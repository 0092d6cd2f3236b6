"""A posterior from a frame, without a store."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polarbear as pb

TIMES = [1.0, 10.0, 100.0]


def frame(instances: int = 12, seeds: int | None = None) -> pl.DataFrame:
    """Three algorithms that improve over time; with seeds, each seed finds the same."""
    rng = np.random.default_rng(3)
    rows: dict[str, list[Any]] = {"algorithm": [], "instance": [], "t": [], "y": []}
    for i in range(instances):
        for a, name in enumerate("ABC"):
            values = np.sort(rng.normal(a, 2, len(TIMES)))[::-1] - np.arange(len(TIMES))
            rows["algorithm"] += [name] * len(TIMES)
            rows["instance"] += [f"i{i}"] * len(TIMES)
            rows["t"] += TIMES
            rows["y"] += values.tolist()
    values_over_time = pl.DataFrame(rows)
    if seeds is None:
        return values_over_time
    return values_over_time.join(pl.DataFrame({"seed": list(range(seeds))}), how="cross")


def inferred(data: Any, model: str = "dirichlet", **options: Any) -> pb.Posterior:
    return pb.infer(data, model=model, method="laplace", grid=TIMES, draws=4000, seed=1, **options)


def test_a_frame_gives_what_its_import_into_a_store_gives(tmp_path: Path):
    frame().write_csv(tmp_path / "t.csv")
    store = pb.import_data(tmp_path / "t.csv", tmp_path / "s", points=3, first=1, last=100)
    kept = store.infer(model="random-walk", draws=1000, seed=1)
    spaced = {"spacing": "log", "from": 1, "to": 100, "points": 3}
    posterior = pb.infer(frame(), model="random-walk", grid=spaced, draws=1000, seed=1)
    assert posterior.times.tolist() == kept.times.tolist() == TIMES
    assert posterior.evidence_weight == kept.evidence_weight < 1
    # the store keeps draws in single precision
    np.testing.assert_allclose(posterior.theta, kept.theta, atol=1e-6)


def test_polars_pandas_lazy_frames_and_mappings_say_the_same():
    values_over_time = frame()
    expected = inferred(values_over_time).theta
    kinds = (
        values_over_time.to_pandas(),
        values_over_time.lazy(),
        values_over_time.to_dict(as_series=False),
    )
    for kind in kinds:
        np.testing.assert_array_equal(inferred(kind).theta, expected)


@pytest.mark.parametrize("model", ["dirichlet", "random-walk"])
def test_seeds_of_one_problem_add_nothing_where_they_only_repeat_it(model: str):
    once = inferred(frame(), model)
    often = inferred(frame(seeds=4), model)
    assert often.instances == once.instances == 12
    assert often.evidence_weight == once.evidence_weight
    np.testing.assert_allclose(often.theta, once.theta, atol=1e-6)
    assert any("with several seeds: a problem counts once" in note for note in often.notes)
    independent = inferred(
        frame(seeds=4)
        .with_columns(instance=pl.concat_str("instance", pl.lit("/"), pl.col("seed")))
        .drop("seed"),
        model,
    )
    assert independent.theta.std(axis=0).mean() < 0.7 * often.theta.std(axis=0).mean()


def test_a_seed_that_only_one_algorithm_ran_takes_no_share():
    extra = pl.DataFrame(
        {"algorithm": "A", "instance": "i0", "t": TIMES, "y": [0.0, -1.0, -2.0], "seed": 9}
    ).with_columns(pl.col("seed").cast(pl.Int64))
    one_seed = frame(seeds=1).with_columns(pl.col("seed").cast(pl.Int64))
    two_seeds = pl.concat([one_seed, extra.select(one_seed.columns)])
    np.testing.assert_allclose(inferred(two_seeds).theta, inferred(one_seed).theta, atol=1e-12)


def test_two_values_for_one_time_are_refused_rather_than_taken_for_one_run():
    clash = pl.concat([frame(), frame().with_columns(y=pl.col("y") + 1)])
    with pytest.raises(pb.ImportFailedError, match="distinguish them by a column 'seed'"):
        pb.infer(clash)
    seeded = clash.with_columns(seed=pl.lit(1))
    with pytest.raises(pb.ImportFailedError, match="instance, t, seed; keep one of each"):
        pb.infer(seeded)


def test_the_grid_follows_the_data_unless_it_is_given():
    evaluations = pb.infer(frame(), draws=800)
    assert (evaluations.axis, evaluations.times[0], evaluations.times[-1]) == (
        "evaluations",
        1,
        100,
    )
    parts = frame().with_columns(t=pl.col("t") / 8)
    seconds = pb.infer(parts, draws=800)
    assert (seconds.axis, seconds.times.tolist()) == ("t", sorted({*parts["t"]}))
    on_own_grid = pb.infer(parts, axis="seconds", grid=[0.125, 12.5], draws=800)
    assert on_own_grid.times.tolist() == [0.125, 12.5]
    with pytest.raises(pb.ConfigError, match="a grid must increase"):
        pb.infer(parts, grid=[10, 1])


def test_larger_values_may_be_better():
    def first(posterior: pb.Posterior) -> str:
        return posterior.algorithms[int(posterior.theta.mean(axis=(0, 1)).argmax())]

    assert first(inferred(frame())) == "A"
    negated = frame().with_columns(y=-pl.col("y"))
    assert first(inferred(negated, maximise=True)) == "A"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (frame().rename({"y": "yy"}), "no column 'y'; it has: .*; rename 'yy'"),
        (frame().drop("instance"), "no column 'instance'"),
        ([1, 2], "expected a polars or pandas frame .* found list"),
        (frame().clear(), "no row of the frame is valid"),
    ],
)
def test_a_frame_that_cannot_be_meant_is_refused(data: Any, words: str):
    with pytest.raises(pb.ImportFailedError, match=words):
        pb.infer(data)


def test_one_algorithm_alone_is_refused():
    with pytest.raises(pb.InferenceError, match="only one algorithm"):
        pb.infer(frame().filter(pl.col("algorithm") == "A"))


def test_rows_that_make_no_sense_are_left_out_with_a_warning():
    broken = frame().with_columns(
        y=pl.when(pl.int_range(pl.len()) == 4).then(float("nan")).otherwise("y")
    )
    with pytest.warns(pb.PolarBearWarning, match=r"1 row: y is not a finite number \(first: row 5"):
        inferred(broken)
