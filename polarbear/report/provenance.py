"""The provenance of a result: versions, settings, machines and packages, to repeat it."""

import platform
from collections.abc import Mapping
from importlib.metadata import version
from importlib.util import find_spec

from polarbear import __version__
from polarbear.facts import summary
from polarbear.report.context import ReportContext
from polarbear.wording import counted, short, time, timed

PACKAGES = ("numpy", "scipy", "numba", "nutpie", "cmdstanpy", "ioh", "modcma", "cma")


def provenance(context: ReportContext) -> list[tuple[str, str]]:
    """Names and values of all that is needed to repeat a result."""
    store = context.store
    settings = store.settings
    times = context.times
    manifest, basis = store.catalog.manifest, context.basis
    span = f"{time(float(times[0]))} to {timed(float(times[-1]), context.axis)}"
    made = [
        ("Store", str(store.path)),
        ("Made", f"{manifest.created} by PolarBear {manifest.tool}"),
        ("Report by", f"PolarBear {__version__}, Python {platform.python_version()}"),
        ("Seed", str(settings.seed)),
        ("Instances", _options(settings.instances.options)),
        ("Times", f"{len(times)} from {span}"),
    ]
    for name, algorithm in settings.algorithms.items():
        made.append(("Algorithm", f"{name}: {_options(algorithm.options)}"))
    if context.rounds:
        record = context.rounds[-1].record
        made.append(("Race", _options({**record.rules, **record.settings})))
        made.append(("Inference", _options(record.inference)))
    elif basis is not None:
        made.append(("Inference", _options(basis.posterior.options.model_dump(mode="json"))))
    if basis is not None:
        posterior = basis.posterior
        by = f"{posterior.model}, {posterior.engine} engine, {posterior.method}"
        draws = f"{counted(posterior.draws, 'draw')}, seed {posterior.seed}, key {basis.key}"
        made.append(("Posterior", f"{by}, {draws}"))
    hosts = summary.hosts(store)
    if hosts:
        made.append(("Machines", "; ".join(f"{h.cpu} ({counted(h.runs, 'run')})" for h in hosts)))
    packages = [f"{name} {version(name)}" for name in PACKAGES if find_spec(name)]
    made.append(("Packages", ", ".join(packages)))
    made.append(("Configuration", f"sha256 {manifest.config_hash}"))
    return made


def flattened(settings: Mapping[str, object], path: str = "") -> dict[str, object]:
    """Nested settings by their keys, written with dots; those that are not set are left out."""
    found: dict[str, object] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            found |= flattened(value, f"{path}{key}.")
        elif value is not None:
            found[f"{path}{key}"] = value
    return found


def _options(options: Mapping[str, object]) -> str:
    """Settings as text: key value, key value."""
    shown = {key: short(x) if isinstance(x, float) else x for key, x in flattened(options).items()}
    return ", ".join(f"{key} {value}" for key, value in shown.items())
