"""The provenance of a result: the versions, settings, machines and packages behind it."""

import platform
from collections.abc import Mapping
from importlib.metadata import version
from importlib.util import find_spec

from polarbear import __version__
from polarbear.facts import summary
from polarbear.report.context import ReportContext
from polarbear.report.words import all_times
from polarbear.wording import counted, short

PACKAGES = (
    *("numpy", "scipy", "numba", "nutpie", "cmdstanpy", "ioh", "modcma", "cma"),
    *("highspy", "pyscipopt", "ortools", "pyvrp"),
)


def provenance(context: ReportContext) -> list[tuple[str, str]]:
    """Names and values of everything that is needed to repeat a result."""
    store = context.store
    settings = store.settings
    times = context.times
    manifest = store.catalog.manifest
    basis = context.basis
    facts = [
        ("Store", str(store.path)),
        ("Made", f"{manifest.created} by PolarBear {manifest.tool}"),
        ("Report by", f"PolarBear {__version__}, Python {platform.python_version()}"),
        ("Seed", str(settings.seed)),
        ("Instances", _options(settings.instances.options)),
        ("Times", f"{len(times)} from {all_times(times, context.axis)}"),
    ]
    for name, algorithm in settings.algorithms.items():
        facts.append(("Algorithm", f"{name}: {_options(algorithm.options)}"))
    if context.rounds:
        record = context.rounds[-1].record
        facts.append(("Race", _options(record.settings.to_plain())))
        facts.append(("Inference", _options(record.settings.stored["inference"])))
    elif basis is not None:
        facts.append(("Inference", _options(basis.posterior.options.model_dump(mode="json"))))
    if basis is not None:
        posterior = basis.posterior
        method = f"{posterior.model}, {posterior.engine} engine, {posterior.method}"
        draws = f"{counted(posterior.draws, 'draw')}, seed {posterior.seed}, key {basis.key}"
        facts.append(("Posterior", f"{method}, {draws}"))
    hosts = summary.hosts(store)
    if hosts:
        facts.append(("Machines", "; ".join(f"{h.cpu} ({counted(h.runs, 'run')})" for h in hosts)))
    packages = [f"{name} {version(name)}" for name in PACKAGES if find_spec(name)]
    facts.append(("Packages", ", ".join(packages)))
    facts.append(("Configuration", f"sha256 {manifest.config_hash}"))
    return facts


def flattened(settings: Mapping[str, object], path: str = "") -> dict[str, object]:
    """Nested settings by their keys, written with dots; settings without a value are left out."""
    flat: dict[str, object] = {}
    for key, setting in settings.items():
        if isinstance(setting, Mapping):
            flat |= flattened(setting, f"{path}{key}.")
        elif setting is not None:
            flat[f"{path}{key}"] = setting
    return flat


def _options(options: Mapping[str, object]) -> str:
    """Settings as text: key value, key value."""
    texts = []
    for key, setting in flattened(options).items():
        text = short(setting) if isinstance(setting, float) else str(setting)
        texts.append(f"{key} {text}")
    return ", ".join(texts)
