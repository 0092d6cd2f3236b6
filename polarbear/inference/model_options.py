"""The options of inference: the model, its priors, the method and the number of draws."""

from typing import Any, Literal

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from polarbear.errors import ConfigError
from polarbear.inference.models import MODELS, without_program
from polarbear.settings.enumerations import InferenceEngine, Method
from polarbear.settings.options import Options, Source, validate

AS_STORED = {"as_stored": True}  # the context in which options are read without asking the model

DependenceName = Literal["clustered", "independent"]
KernelName = Literal["matern-3/2", "matern-5/2", "squared-exponential"]
CONCENTRATION = 2.0  # the number of imaginary problems of the neutral prior


class LogNormalPrior(Options):
    """A log-normal prior: exp of a normal."""

    location: float = Field(0.0, description="mean of the logarithm")
    scale: float = Field(0.5, gt=0, description="standard deviation of the logarithm")


class InverseGammaPrior(Options):
    """An inverse-gamma prior, on the unit time scale where it is a lengthscale's."""

    shape: float = Field(5.0, gt=0, description="shape: larger means a lighter upper tail")
    scale: float = Field(3.0, gt=0, description="scale: larger means larger values")


class ExponentialPrior(Options):
    """An exponential prior."""

    rate: float | None = Field(
        None,
        gt=0,
        description="one over the mean; if not given, 1/n, which makes kappa/n one on average",
    )


class ModelOptions(Options):
    """A model of ratings over time, and how its posterior is computed."""

    # A configuration and a store know the Dirichlet concentration as 'alpha'.
    model_config = ConfigDict(serialize_by_alias=True)

    # benchmarks/race.py shows how it decides where Plackett-Luce does not hold
    model: str = Field(
        "empirical",
        description="'empirical' counts duels and assumes nothing but exchangeable instances; the "
        "others are priors over Plackett-Luce ratings in time",
    )
    engine: InferenceEngine = Field(
        InferenceEngine.NATIVE, description="'native' is embedded; 'stan' the reference"
    )
    method: Method = Field(Method.AUTO, description="'auto' picks what is exact and fastest")
    draws: int = Field(4000, ge=400, le=10_000_000, description="posterior draws, all chains")
    chains: int = Field(4, ge=2, le=64, description="chains the draws are split over")
    dependence: DependenceName = Field(
        "clustered",
        description="'clustered' counts rankings of one instance for less, as far as they repeat "
        "each other over time; 'independent' counts each in full (temporal models only)",
    )
    kernel: KernelName = Field("matern-3/2", description="covariance of gp, sparse-gp and hsgp")
    concentration: float = Field(
        CONCENTRATION,
        gt=0,
        description="imaginary problems of the empirical model's neutral prior, on which every "
        "duel is even",
    )
    dirichlet_concentration: float = Field(
        1.0, alias="alpha", description="concentration of the dirichlet model"
    )
    kappa: ExponentialPrior = Field(
        ExponentialPrior(), description="prior of hierarchical's concentration"
    )
    sigma: LogNormalPrior = Field(
        LogNormalPrior(), description="prior of the temporal models' amplitude"
    )
    lengthscale: InverseGammaPrior = Field(
        InverseGammaPrior(), description="prior of the lengthscale, in units of the whole grid"
    )
    initial_scale: float = Field(
        1.0, gt=0, description="standard deviation of a random walk's first value"
    )
    inducing_points: int = Field(10, ge=2, description="inducing points of sparse-gp")
    basis_functions: int | None = Field(
        None, ge=2, description="basis functions m of hsgp; by Riutort-Mayol's rule if not given"
    )
    boundary: float | None = Field(
        None, gt=1, description="boundary factor c of hsgp; by Riutort-Mayol's rule if not given"
    )
    spline_functions: int | None = Field(
        None, ge=2, description="B-splines K of bspline; half the number of times if not given"
    )
    spline_degree: int = Field(3, ge=1, le=5, description="degree of the B-splines")
    options: dict[str, Any] = Field(
        {},
        exclude_if=lambda options: not options,  # a posterior's key is made of the others
        validate_default=True,
        description="options of the model's own, where it comes from another package",
    )

    @property
    def temporal(self) -> bool:
        """Whether ratings are correlated over time."""
        return MODELS[self.model].temporal

    @property
    def joint(self) -> bool:
        """Whether statements about all times at once are valid."""
        return MODELS[self.model].joint

    @property
    def plackett_luce(self) -> bool:
        """Whether the model is a prior over Plackett-Luce ratings."""
        return MODELS[self.model].plackett_luce

    @field_validator("model")
    @classmethod
    def _is_registered(cls, model: str, info: ValidationInfo) -> str:
        if info.context != AS_STORED and model not in MODELS:
            raise ValueError(MODELS.refusal(model))
        return model

    @field_validator("engine")
    @classmethod
    def _programmed(cls, engine: InferenceEngine, info: ValidationInfo) -> InferenceEngine:
        model = info.data.get("model")  # which is missing where it was not valid
        if engine != "stan" or model is None or info.context == AS_STORED:
            return engine
        if MODELS[model].stan_program is None:
            raise ValueError(without_program(model))
        return engine

    @field_validator("options")
    @classmethod
    def _of_the_model(cls, options: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        """The model's options, completed by the defaults that the model gives them."""
        model = info.data.get("model")
        if model is None or info.context == AS_STORED:
            return options
        try:
            own = validate(MODELS[model].own_options, options, Source(f"options of {model}"))
        except ConfigError as error:
            raise ValueError(str(error)) from None
        return own.model_dump(mode="json", by_alias=True)

    @field_validator("dirichlet_concentration")
    @classmethod
    def _proper(cls, concentration: float) -> float:
        if not concentration > 0:
            raise ValueError(
                f"alpha is {concentration:g}, but must be above 0: with less the dirichlet "
                "posterior is improper as soon as one algorithm always wins or always loses"
            )
        return concentration
