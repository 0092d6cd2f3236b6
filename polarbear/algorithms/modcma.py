"""Modular CMA-ES by modcma, in C++."""

import importlib.util
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from polarbear.algorithms.base import Algorithm, Trial
from polarbear.errors import MissingExtraError
from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Kind, Setting
from polarbear.settings.options import unknown

Evaluate = Callable[[Any], float]

# From the paper's appendix on the configuration of CMA-ES.
BASELINE: Mapping[str, bool | str] = {
    "active": True,
    "repelling_restart": True,
    "threshold_convergence": False,
    "bound_correction": "COTN",
    "restart_strategy": "IPOP",
    "center_placement": "UNIFORM",
}
# PSR and SA are left out: runs with them are not reproducible.
StepSize = Literal["CSA", "MSR", "TPA", "XNES", "MXNES", "LPXNES", "SR"]
MATRICES = {  # keys are the paper's names
    "COV": "COVARIANCE",
    "SEP": "SEPARABLE",
    "MAT": "MATRIX",
    "CHO": "CHOLESKY",
    "CMSA": "CMSA",
    "NAT": "NATURAL_GRADIENT",
    "NONE": "NONE",
}
MATRIX_NAMES = frozenset(MATRICES) | frozenset(MATRICES.values()) | {"COVARIANCE_NO_EIGV"}
OWN_OPTION = {"ssa": "step_size", "matrix_adaptation": "matrix"}
REFUSED: Mapping[tuple[str, bool | str], str] = {
    ("sequential_selection", True): "runs are not reproducible, since modcma 1.2.0 reads "
    "uninitialised memory",
    ("threshold_convergence", True): "its threshold depends on the budget",
    ("restart_strategy", "STOP"): "it ends the run as soon as the search has converged",
}
ENDLESS = 2**62  # modcma's budget; the trial ends the run
BOX = 5.0  # modcma's step-size limits and COTN assume a box like [-5, 5]
LARGEST_REPELLED_DIMENSION = 308  # (2 * BOX) to a higher power is infinite


class Modcma(Algorithm):
    """A modular CMA-ES; by default CSA with full covariance and the paper's baseline modules."""

    step_size: StepSize = Field(
        "CSA", description="the step-size adaptation: CSA MSR TPA XNES MXNES LPXNES SR"
    )
    matrix: str = Field(
        "COV",
        description="the matrix adaptation, as in the paper: COV SEP MAT CHO CMSA NAT NONE, or "
        "as modcma calls it",
    )
    sigma0: float = Field(0.2, gt=0, le=1, description="the first step size, as a share of the box")
    centre: Literal["fixed", "modcma"] = Field(
        "fixed",
        description="fixed: every start is centred on a uniform random point of the box; modcma: "
        "as modcma 1.2.0 does it, which starts in the middle, and restarts outside of the box too",
    )
    modules: dict[str, bool | str] = Field(
        {}, description="further modules of modcma by name, such as {mirrored: PAIRWISE}"
    )

    library: ClassVar[str | None] = "modcma"
    accepts: ClassVar[frozenset[Kind]] = frozenset({Kind.CONTINUOUS})

    @field_validator("matrix")
    @classmethod
    def _known_matrix(cls, name: str) -> str:
        if name not in MATRIX_NAMES:
            raise ValueError(unknown("matrix adaptation", name, MATRIX_NAMES))
        return name

    @field_validator("modules")
    @classmethod
    def _possible_modules(
        cls, modules: dict[str, bool | str], info: ValidationInfo
    ) -> dict[str, bool | str]:
        for name, value in modules.items():
            if name in OWN_OPTION:
                raise ValueError(f"'{name}' is set by the option '{OWN_OPTION[name]}'")
            if name == "center_placement" and info.data.get("centre") == "fixed":
                raise ValueError("'center_placement' has an effect only with 'centre: modcma'")
            if (name, value) in REFUSED:
                raise ValueError(f"{name} = {value} is not possible: {REFUSED[name, value]}")
        # Without modcma the configuration can still be read, but not run.
        if modules and importlib.util.find_spec("modcma") is not None:
            _set_modules(_package().parameters.Modules(), modules)
        return modules

    def population(self, dimension: int) -> int:
        return 4 + int(3 * np.log(dimension))  # modcma's default

    def prepare(self, setting: Setting) -> None:
        _package()

    def run(self, trial: Trial, setting: Setting) -> None:
        package = _package()
        dimension = trial.dimension
        evaluate = _from_its_box(trial.evaluate, *trial.box)
        rng = np.random.default_rng(trial.seed)
        seed_generator(package.utils, trial.seed)
        settings = package.Settings(
            dimension,
            modules=self._all_modules(package, dimension),
            budget=ENDLESS,
            sigma0=self.sigma0 * 2 * BOX,
            x0=rng.uniform(-BOX, BOX, dimension) if self.centre == "fixed" else None,
            lb=np.full(dimension, -BOX),
            ub=np.full(dimension, BOX),
            verbose=False,
        )
        search = package.ModularCMAES(package.Parameters(settings))
        if self.centre == "modcma":
            search.run(evaluate)
            return
        step = search.step
        criteria = search.p.criteria
        settings = search.p.settings
        while True:
            if criteria.any():  # this step begins with a restart, from x0
                settings.x0 = rng.uniform(-BOX, BOX, dimension)
            step(evaluate)

    def _all_modules(self, package: ModuleType, dimension: int) -> Any:
        chosen: dict[str, bool | str] = {
            **BASELINE,
            **self.modules,
            "ssa": self.step_size,
            "matrix_adaptation": MATRICES.get(self.matrix, self.matrix),
        }
        if self.centre == "fixed":
            chosen["center_placement"] = "X0"
        if dimension > LARGEST_REPELLED_DIMENSION:
            # The radius around earlier optima derives from the volume of the box. If that is
            # infinite, modcma rejects points for minutes; a finite one would reject hardly any.
            chosen["repelling_restart"] = False
        modules = package.parameters.Modules()
        _set_modules(modules, chosen)
        return modules


def _package() -> ModuleType:
    """The compiled part of modcma; an error with the command to install it if it is missing."""
    try:
        return importlib.import_module("modcma.c_maes")
    except ImportError as error:
        raise MissingExtraError("adapter 'modcma'", "modcma", "bbob") from error


def _set_modules(modules: Any, chosen: Mapping[str, bool | str]) -> None:
    """Set modules by name; ValueError for an unknown module or option."""
    names = {name for name in dir(modules) if not name.startswith("_")}
    for name, value in chosen.items():
        if name not in names:
            raise ValueError(unknown("module", name, names - set(OWN_OPTION)))
        kind = type(getattr(modules, name))
        options = {False: False, True: True} if kind is bool else kind.__members__
        if value not in options:
            raise ValueError(unknown(f"option of module '{name}'", str(value), map(str, options)))
        setattr(modules, name, options[value])


def _from_its_box(evaluate: Evaluate, lower: Floats, upper: Floats) -> Evaluate:
    """The objective on modcma's box; unchanged if that is also the problem's box."""
    if np.all(lower == -BOX) and np.all(upper == BOX):
        return evaluate

    def on_its_box(x: Floats) -> float:
        share = (x + BOX) / (2 * BOX)
        return evaluate(lower * (1 - share) + upper * share)  # exact at both ends

    return on_its_box


def seed_generator(utils: ModuleType, seed: int) -> None:
    """Seed modcma's global generator, and discard the normal draw that it may have buffered.

    Normal draws come in pairs; a buffered second one survives seeding. If one is buffered, a normal
    draw does not advance the uniform stream; if none is, it does, and buffers one.
    """
    utils.set_seed(0)
    first_uniform = utils.random_uniform()
    utils.set_seed(0)
    utils.random_normal()
    if utils.random_uniform() != first_uniform:
        utils.random_normal()
    utils.set_seed(seed)
