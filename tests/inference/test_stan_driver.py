"""The command line of compiled Stan programs, called by CmdStanPy."""

import json
import logging
import subprocess

import cmdstanpy
import numpy as np
import pytest

from polarbear.inference import ModelOptions
from polarbear.inference.models.base import rating_model
from polarbear.inference.stan import cmdstan, programs
from polarbear.inference.stan.engine import stan_data

from .quadrature import Simplex3
from .stan_support import skip_without_polarbears_driver
from .test_dirichlet import sets_of_three

pytestmark = pytest.mark.stan
logging.getLogger("cmdstanpy").setLevel(logging.ERROR)

SETS = sets_of_three(32)
N_PARAMETERS = 2  # Three algorithms at one time have two unconstrained parameters.


@pytest.fixture
def _polarbears_driver():
    skip_without_polarbears_driver()


@pytest.fixture(scope="module")
def executable():
    return programs.compiled(programs.program_file("dirichlet"), cmdstan.find())


@pytest.fixture(scope="module")
def model(executable):
    return cmdstanpy.CmdStanModel(exe_file=str(executable))


@pytest.fixture(scope="module")
def data():
    return stan_data(rating_model("dirichlet")(np.zeros(1), 3, ModelOptions()), SETS)


@pytest.fixture(scope="module")
def exact_mean():
    return Simplex3(SETS, alpha=1.0).mean()


def sampled(model, data, **options):
    defaults = {"chains": 2, "iter_warmup": 300, "iter_sampling": 2000, "seed": 1}
    return model.sample(data=data, show_progress=False, **{**defaults, **options})


@pytest.mark.parametrize(
    "options",
    [
        {"max_treedepth": 8, "adapt_delta": 0.9},
        {"metric": "dense_e", "adapt_init_phase": 50, "adapt_metric_window": 30},
        {"inv_metric": [np.ones(N_PARAMETERS), np.full(N_PARAMETERS, 0.5)], "step_size": 0.5},
        {"inv_metric": {"inv_metric": np.eye(N_PARAMETERS).tolist()}, "metric": "dense_e"},
        {"adapt_engaged": False, "step_size": 0.4, "metric": "unit_e"},
        {"inits": 0.1},
        {"inits": [{"eta": [[0.1], [0.2]]}, {"eta": [[0.3], [0.4]]}]},
        {"save_warmup": True, "thin": 2, "sig_figs": 12, "refresh": 10},
    ],
    ids=lambda options: " ".join(options),
)
def test_every_combination_of_sampling_options_draws_from_the_posterior(
    model, data, exact_mean, options
):
    """Means are within 0.02, more than five standard errors of at least 1,000 effective draws."""
    fit = sampled(model, data, **options)
    theta = fit.stan_variable("theta")[:, :, 0]
    np.testing.assert_allclose(theta.mean(axis=0), exact_mean, atol=0.02)
    assert fit.divergences.sum() == 0
    assert fit.metric_type == options.get("metric", "diag_e")


def test_chains_in_one_process_are_those_of_separate_processes(model, data, tmp_path):
    options = {
        "save_warmup": True,
        "save_latent_dynamics": True,
        "iter_sampling": 200,
        "output_dir": str(tmp_path),
    }
    one_process = sampled(model, data, force_one_process_per_chain=False, **options)
    two_processes = sampled(model, data, force_one_process_per_chain=True, **options)
    np.testing.assert_array_equal(one_process.draws(), two_processes.draws())
    assert not np.array_equal(one_process.draws()[:, 0], one_process.draws()[:, 1])
    assert two_processes.draws(inc_warmup=True).shape[0] == 500
    dynamics = (tmp_path / two_processes.runset.diagnostic_files[0]).read_text()
    assert "p_eta.1.1" in dynamics
    assert "g_eta.1.1" in dynamics


def test_optimisers_find_the_same_mode(model, data):
    modes = [
        model.optimize(data=data, seed=1, algorithm=name, jacobian=True).stan_variable("eta")
        for name in ("lbfgs", "bfgs", "newton")
    ]
    np.testing.assert_allclose(modes[0], modes[1], atol=1e-3)
    np.testing.assert_allclose(modes[0], modes[2], atol=1e-3)


def test_generated_quantities_are_those_of_the_draws(model, data):
    fit = sampled(model, data, iter_sampling=100, sig_figs=17)
    generated = model.generate_quantities(data=data, previous_fit=fit, seed=1, sig_figs=17)
    theta = generated.stan_variable("theta")
    np.testing.assert_allclose(theta, fit.stan_variable("theta"), rtol=1e-9)


@pytest.mark.parametrize("paths", [1, 6])
def test_pathfinder_returns_the_requested_number_of_draws(model, data, exact_mean, paths):
    fit = model.pathfinder(data=data, seed=1, draws=3000, num_paths=paths)
    theta = fit.stan_variable("theta")
    assert len(theta) == 3000
    np.testing.assert_allclose(theta[:, :, 0].mean(axis=0), exact_mean, atol=0.03)


@pytest.mark.usefixtures("_polarbears_driver")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["method=diagnose"], "'method=diagnose' is not part of this driver; it has sample"),
        (["method=sample", "algorithm=hmc", "engine=static"], "'engine=static' is not part"),
        (["method=sample", "num_leaps=3"], "the argument 'num_leaps=3' is not part of this driver"),
        (["method=sample", "num_samples=many"], "'num_samples=many' is not a number"),
        (["method=sample", "save_warmup=maybe"], "'save_warmup=maybe' should be 0 or 1"),
        (["method=sample", "adapt=1"], "'adapt=1' should be written adapt"),
        (["random", "seed=-3", "method=sample"], "'seed=-3' should be between 0"),
        (["method=laplace"], "the argument 'mode' is missing"),
    ],
)
def test_arguments_that_the_driver_does_not_support_are_refused_by_name(
    executable, data, tmp_path, arguments, words
):
    file = tmp_path / "data.json"
    file.write_text(json.dumps(data))
    command = [executable, "data", f"file={file}", *arguments]
    process = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert process.returncode == 64
    assert words in process.stderr


@pytest.mark.usefixtures("_polarbears_driver")
@pytest.mark.parametrize(
    ("text", "words"), [("{", "is not JSON data"), ('{"n": 3}', "T"), (None, "cannot read")]
)
def test_the_error_for_unreadable_data_gives_the_reason(executable, tmp_path, text, words):
    file = tmp_path / "data.json"
    if text is not None:
        file.write_text(text)
    command = [executable, "data", f"file={file}", "method=sample"]
    process = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert process.returncode in (70, 74)
    assert words in process.stderr


@pytest.mark.usefixtures("_polarbears_driver")
def test_a_full_disk_ends_the_run_at_once_with_an_error_that_names_it(executable, data, tmp_path):
    """Writing to /dev/full fails; a driver that ignores the failure would run for minutes."""
    file = tmp_path / "data.json"
    file.write_text(json.dumps(data))
    command = [executable, "data", f"file={file}", "output", "file=/dev/full"]
    command += ["method=sample", "num_samples=10000000"]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert process.returncode == 74
    assert "cannot write to /dev/full: is the disk full?" in process.stderr
