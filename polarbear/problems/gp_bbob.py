"""GP-BBOB: BBOB functions mixed with weights that depend on x.

    f(x) = Σ_i w_i(x) f_i(x) + y0

over the k(x) functions of the largest logits z_i(x), with w the softmax of these logits. The logits
and k follow Gaussian processes, drawn as random Fourier features. The f_i are SBOX functions, so
that f is inf outside the box.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from math import exp, pi, sqrt
from time import perf_counter
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator
from scipy.special import ndtr, ndtri

from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Kind, Problem, Range, Setting, Spec, Suite
from polarbear.problems.numbered_suites import FUNCTIONS, SMALLEST_DIMENSION
from polarbear.settings.options import Options

LEAST_MASS = 1e-9  # truncated priors are drawn by inversion, which needs some mass to invert


def _check_truncation(start: int, stop: int, cdf: Floats) -> None:
    if stop < start:
        raise ValueError(f"nothing lies between {start} and {stop}")
    if start < stop and cdf[-1] - cdf[0] < LEAST_MASS:
        raise ValueError(
            f"the prior has less than {LEAST_MASS:g} of its mass between {start} and {stop}: "
            "move its mean, widen it, or fix the number by 'from' equal to 'to'"
        )


class LogNormalSize(Options):
    """A positive number whose logarithm is normal; log_sd = 0 fixes it."""

    log_mean: float = Field(ge=-20, le=20, description="the mean of the logarithm")
    log_sd: float = Field(ge=0, le=5, description="the standard deviation of the logarithm")

    def draw(self, rng: np.random.Generator) -> float:
        return float(rng.lognormal(self.log_mean, self.log_sd))


class Dimension(Options):
    """A normal number rounded down and truncated, both ends included; from = to fixes it."""

    mean: float = Field(240.0, description="the normal's mean")
    sd: float = Field(30.0, gt=0, description="the normal's standard deviation")
    start: int = Field(2, alias="from", ge=SMALLEST_DIMENSION, description="the smallest possible")
    stop: int = Field(320, alias="to", ge=SMALLEST_DIMENSION, description="the largest possible")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        _check_truncation(self.start, self.stop, self._cdf())
        return self

    def _cdf(self) -> Floats:
        """The normal CDF at both ends of the truncation."""
        return np.asarray(ndtr((np.array([self.start, self.stop + 1]) - self.mean) / self.sd))

    def draw(self, rng: np.random.Generator) -> int:
        if self.start == self.stop:
            return self.start
        value = int(self.mean + self.sd * ndtri(rng.uniform(*self._cdf())))
        return min(max(value, self.start), self.stop)  # inversion may round beyond an end


class Offset(Options):
    """A Cauchy number; scale = 0 fixes it."""

    location: float = Field(0.0, description="the median")
    scale: float = Field(1000.0, ge=0, description="half the distance between the quartiles")

    def draw(self, rng: np.random.Generator) -> float:
        return float(self.location + self.scale * rng.standard_cauchy())


class Active(Options):
    """K, a log-normal number rounded down and truncated, both ends included; from = to fixes it.

    An integer k thus has the log-normal's mass of [k, k + 1), renormalised.
    """

    log_mean: float = Field(1.1, ge=-20, le=20, description="the mean of the logarithm")
    log_sd: float = Field(0.5, gt=0, le=5, description="the standard deviation of the logarithm")
    start: int = Field(2, alias="from", ge=1, le=FUNCTIONS, description="the smallest possible")
    stop: int = Field(FUNCTIONS, alias="to", ge=1, le=FUNCTIONS, description="the largest possible")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        _check_truncation(self.start, self.stop, self._cdf())
        return self

    def _cdf(self) -> Floats:
        """The log-normal CDF at the lower end of each integer, and at the upper end of the last."""
        ends = np.arange(self.start, max(self.start, self.stop) + 2)
        return np.asarray(ndtr((np.log(ends) - self.log_mean) / self.log_sd))

    def thresholds(self) -> list[float]:
        """Φ⁻¹(F_K(k)) of every k but the last; k(x) grows by one for each that h(x) exceeds."""
        cdf = self._cdf()
        return [float(h) for h in ndtri((cdf[1:-1] - cdf[0]) / (cdf[-1] - cdf[0]))]


Features = Annotated[Range, Field(description="how many random Fourier features draw the field")]
Lengthscale = Annotated[
    LogNormalSize, Field(description="the distance over which the field changes")
]
Amplitude = Annotated[LogNormalSize, Field(description="the field's standard deviation")]


class FieldPrior(Options):
    """The prior of a Gaussian process with an RBF kernel."""

    features: Features
    lengthscale: Lengthscale
    amplitude: Amplitude

    def draw(self, rng: np.random.Generator) -> dict[str, object]:
        return {
            "features": self.features.draw(rng),
            "lengthscale": self.lengthscale.draw(rng),
            "amplitude": self.amplitude.draw(rng),
            "seed": int(rng.integers(2**53)),
        }


class Logits(FieldPrior):
    """The fields of which the weights are the softmax."""

    temperature: LogNormalSize = Field(
        LogNormalSize(log_mean=-0.5, log_sd=0.5),
        description="the lower, the more one function leads",
    )
    features: Features = Range.model_validate({"from": 32, "to": 128})
    lengthscale: Lengthscale = LogNormalSize(log_mean=2.0, log_sd=1.0)
    amplitude: Amplitude = LogNormalSize(log_mean=0.0, log_sd=0.7)


class Sparsity(FieldPrior):
    """The field that determines the number of active functions at x."""

    active: Active = Field(Active.model_validate({}), description="the prior of that number")
    features: Features = Range.model_validate({"from": 16, "to": 64})
    lengthscale: Lengthscale = LogNormalSize(log_mean=0.0, log_sd=1.0)
    amplitude: Amplitude = LogNormalSize(log_mean=0.0, log_sd=0.7)


class GpBbob(Suite):
    """GP-BBOB: every default is the prior of the paper's appendix."""

    dimension: Dimension = Field(
        Dimension.model_validate({}), description="the number of variables"
    )
    offset: Offset = Field(Offset.model_validate({}), description="y0, added to every value")
    instance_ids: Range = Field(
        Range.model_validate({"from": 1, "to": 999}),
        description="the functions' instance ids, drawn for each of the 24 functions",
    )
    logits: Logits = Field(Logits.model_validate({}), description="which functions are active")
    sparsity: Sparsity = Field(Sparsity.model_validate({}), description="how many are active")
    maximise: Literal[False] = Field(False, description="always false: GP-BBOB is minimised")

    kind = Kind.CONTINUOUS

    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Spec]:
        dimension = self.dimension.draw(rng)
        spec = {
            "dimension": dimension,
            "offset": self.offset.draw(rng),
            "instances": [self.instance_ids.draw(rng) for _ in range(FUNCTIONS)],
            "logits": {"temperature": self.logits.temperature.draw(rng), **self.logits.draw(rng)},
            "sparsity": {
                "active": self.sparsity.active.model_dump(by_alias=True),
                **self.sparsity.draw(rng),
            },
        }
        return f"{self.suite}-{index}-d{dimension}", spec

    def build(self, spec: Spec, setting: Setting) -> Problem:
        from polarbear.problems.bbob.instances import bbob_box

        functions = BaseFunctions(spec["instances"], spec["dimension"])
        return Problem(
            mixture(functions, spec),
            *bbob_box(spec["dimension"]),
            building_seconds=lambda: functions.seconds,
        )


class BaseFunctions(dict[int, Any]):
    """The 24 functions f_i, each built when it is first active, because that takes long."""

    def __init__(self, instances: Sequence[int], dimension: int) -> None:
        super().__init__()
        self.seconds = 0.0
        self._instances = instances
        self._dimension = dimension

    def __missing__(self, i: int) -> Any:
        start = perf_counter()
        from polarbear.problems.bbob.instances import function_problem, sbox_function

        function = sbox_function(i + 1, self._instances[i], self._dimension)
        self[i] = function_problem(function).evaluate
        self.seconds += perf_counter() - start
        return self[i]


def mixture(
    functions: Mapping[int, Callable[[Floats], float]], spec: Spec
) -> Callable[[Any], float]:
    """The objective of this spec."""
    dimension = spec["dimension"]
    offset = spec["offset"]
    logits = random_fields(FUNCTIONS, dimension, spec["logits"])
    sparsity = random_fields(1, dimension, spec["sparsity"])
    temperature = spec["logits"]["temperature"]
    active = Active.model_validate(spec["sparsity"]["active"])
    thresholds = active.thresholds()

    def evaluate(x: object) -> float:
        x = np.asarray(x, dtype=np.float64)
        z = logits(x).tolist()
        k = active.start + bisect_left(thresholds, sparsity(x)[0])
        active_functions = sorted(range(FUNCTIONS), key=z.__getitem__)[-k:]
        largest = z[active_functions[-1]]
        total = total_weight = 0.0
        for i in active_functions:
            weight = exp((z[i] - largest) / temperature)
            if weight != 0.0:  # underflow: 0 times the inf outside the box would be NaN
                total += weight * functions[i](x)
                total_weight += weight
        return float(total / total_weight + offset)

    return evaluate


def random_fields(fields: int, dimension: int, spec: Spec) -> Callable[[Floats], Floats]:
    """Draws of a Gaussian process with an RBF kernel, by random Fourier features cos(ω x + b).

    All fields share the features and differ in their weights: given the features, they are
    independent Gaussian processes. A test pins NumPy's stream of random numbers.
    """
    rng = np.random.default_rng(spec["seed"])
    features = spec["features"]
    frequencies = rng.standard_normal((features, dimension)) / spec["lengthscale"]
    phases = rng.uniform(0.0, 2.0 * pi, features)
    weights = rng.standard_normal((fields, features)) * spec["amplitude"] * sqrt(2.0 / features)

    def values(x: Floats) -> Floats:
        return np.asarray(weights @ np.cos(frequencies @ x + phases))

    return values
