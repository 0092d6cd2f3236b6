"""Each ready configuration can be read and agrees with its description."""

from pathlib import Path

import numpy as np
import pytest

from polarbear.config.configuration import load

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_ready_configuration_can_be_read(path: Path):
    assert len(load(path).algorithms) > 1


@pytest.mark.parametrize(
    ("name", "model", "times", "members"),
    [
        ("synthetic-1", "gp", 20, {"A", "B"}),
        ("synthetic-2", "hsgp", 100, {"A"}),
        ("synthetic-3", "sparse-gp", 50, {"A", "C", "D", "H"}),
    ],
)
def test_a_synthetic_example_has_the_pareto_set_that_it_names(name, model, times, members):
    config = load(CONFIGS / f"{name}.yaml")
    theta = config.instances.truth(config.setting)
    assert (config.inference.model, len(theta)) == (model, times)
    dominates = (theta[:, :, None] > theta[:, None, :]).all(axis=0)
    names = np.array([algorithm.name for algorithm in config.algorithms])
    assert set(names[~dominates.any(axis=0)]) == members


def test_the_case_studies_have_the_papers_settings():
    mabbob = load(CONFIGS / "mabbob.yaml")
    gpbbob = load(CONFIGS / "gpbbob.yaml")
    assert [algorithm.name for algorithm in mabbob.algorithms] == [
        *("CSA", "MSR", "TPA", "XNES", "MXNES", "LPXNES", "RS")
    ]
    assert (len(mabbob.budget.times), mabbob.budget.limit) == (200, 60_000)
    assert (mabbob.race.elimination, mabbob.race.resolution) == ("pointwise", "strict")
    assert [algorithm.name for algorithm in gpbbob.algorithms] == [
        *("COV", "SEP", "MAT", "CHO", "CMSA", "NAT", "NONE", "RS")
    ]
    assert (len(gpbbob.budget.times), gpbbob.budget.limit) == (30, 30)
    assert (gpbbob.race.elimination, gpbbob.race.resolution) == ("joint", "crossing")
    for config in (mabbob, gpbbob):
        assert (config.race.alpha, config.race.epsilon) == (0.99, 0.05)
        assert (config.race.batch.min, config.race.batch.max) == (8, 128)
