"""Another package in a folder of a test, as pip would have installed it."""

from collections.abc import Mapping
from pathlib import Path


def install(
    folder: Path, package: str, modules: Mapping[str, str], entries: Mapping[str, Mapping[str, str]]
) -> Path:
    """Put modules into ``folder`` beside metadata that declares entries[group][name] = reference.

    Return the folder, which is then ready to be added to Python's path.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    about = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = []
    for group, declared in entries.items():
        lines += [f"[{group}]", *(f"{name} = {reference}" for name, reference in declared.items())]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder
