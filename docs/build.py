"""Builds the documentation site: python docs/build.py SITE [GALLERY]

The pages are copied into a temporary folder. The reference pages that come from the code and the
files of the repository that pages link to are added there. GALLERY is the folder that
`docs/gallery.py` wrote; without it the gallery has no pages to open. A warning of Sphinx, such as a
broken link, is an error, and so is a site that loads anything from elsewhere.
"""

from __future__ import annotations

import inspect
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)")
GALLERY_PAGE = re.compile(r"\s*\{page\}`([\w-]+)`")
NAMED_BLOCK = re.compile(r"^```(\w+) (\S+)$", re.MULTILINE)
LOADED = re.compile(
    r"""<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=["'](?:https?:)?//[^"']+"""
    r"""|@import\s+["']?(?:https?:)?//|url\(["']?(?:https?:)?//[^)]+""",
    re.IGNORECASE,
)


def build(site: Path, gallery: Path | None = None) -> int:
    """Build the site into a folder; returns the exit code of Sphinx."""
    from sphinx.cmd.build import main as sphinx

    with tempfile.TemporaryDirectory() as name:
        pages = Path(name)
        stage(pages, gallery is not None)
        code: int = sphinx(["-q", "-W", "--keep-going", "-b", "html", str(pages), str(site)])
    for page in gallery.glob("*.html") if gallery else ():
        (site / "studies").mkdir(exist_ok=True)
        shutil.copy(page, site / "studies" / page.name)
    for path, found in loaded_from_elsewhere(site):
        raise SystemExit(f"{path} loads from elsewhere: {found}")
    return code


def stage(pages: Path, with_gallery: bool = False) -> None:
    """Write all pages, those that are generated too."""
    shutil.copytree(DOCS, pages, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    for place, text in {
        "reference/every-option.md": every_option(),
        "reference/command-line.md": command_line(),
        "reference/interface.md": interface(),
        "reference/tables.md": tables(),
        "reference/exports.md": exports(),
        "reference/preferences.md": preferences(),
    }.items():
        (pages / place).write_text(text, encoding="utf-8")
    text = (pages / "gallery.md").read_text(encoding="utf-8")
    opened = r' <a href="studies/\1.html">Open its page</a>.' if with_gallery else ""
    (pages / "gallery.md").write_text(GALLERY_PAGE.sub(opened, text), encoding="utf-8")
    for page in sorted(pages.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        page.write_text(with_repository(text, page.relative_to(pages), pages), encoding="utf-8")


def with_repository(text: str, page: Path, pages: Path) -> str:
    """The text of a page with links to files of the repository that are pages, too.

    Blocks of code that are files get their name above them.
    """

    def link(match: re.Match[str]) -> str:
        source = os.path.normpath(ROOT / "docs" / page.parent / match[1])
        if Path(source).is_relative_to(DOCS):
            return match[0]
        place = Path("repository", Path(source).relative_to(ROOT))
        add_repository_file(Path(source), pages / place, pages)
        target = place if place.suffix == ".md" else place.with_name(f"{place.name}.md")
        return f"]({os.path.relpath(target, page.parent)}"

    return NAMED_BLOCK.sub(r"`\2`\n\n```\1", LINK.sub(link, text))


def add_repository_file(source: Path, target: Path, pages: Path) -> None:
    """Add a file of the repository as a page, with the files that it links to."""
    page = target if target.suffix == ".md" else target.with_name(f"{target.name}.md")
    if page.exists():
        return
    text = source.read_text(encoding="utf-8")
    page.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix != ".md":
        fence = "python" if source.suffix == ".py" else "text"
        page.write_text(f"---\norphan: true\n---\n# {source.name}\n\n````{fence}\n{text}\n````\n")
        return
    page.write_text("")  # ends circles of links

    def link(match: re.Match[str]) -> str:
        linked = (source.parent / match[1]).resolve()
        if linked.is_relative_to(DOCS):
            place = linked.relative_to(DOCS)
        else:
            place = Path("repository", linked.relative_to(ROOT))
            add_repository_file(linked, pages / place, pages)
            place = place if place.suffix == ".md" else place.with_name(f"{place.name}.md")
        return f"]({os.path.relpath(pages / place, page.parent)}"

    page.write_text(f"---\norphan: true\n---\n{LINK.sub(link, text)}", encoding="utf-8")


def every_option() -> str:
    """The configuration that `init` writes."""
    from polarbear.config.template import commented_config

    return (
        "# Every option in one file\n\nThe configuration that `polarbear init --all` writes. It "
        "runs unchanged; [Configuration](configuration.md) explains it.\n\n"
        f"```yaml\n{commented_config()}```\n"
    )


def command_line() -> str:
    """Every command with its arguments and options, from the program."""
    import typer

    from polarbear.cli import app

    lines = ["# Every command and option", "", "Generated from the program.", ""]
    program = typer.main.get_command(app)
    assert isinstance(program, typer.core.TyperGroup)
    for name, command in program.commands.items():
        if isinstance(command, typer.core.TyperGroup):
            for subcommand_name, subcommand in command.commands.items():
                lines += _command_lines(f"polarbear {name} {subcommand_name}", subcommand)
        else:
            lines += _command_lines(f"polarbear {name}", command)
    return "\n".join(lines)


def _command_lines(name: str, command: Any) -> list[str]:
    """The section on one command: its purpose, its usage, and a table of its parameters."""
    import typer

    context = typer.Context(command, info_name=name)
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    rows = [f"| `{_cell(record[0])}` | {_cell(record[1])} |" for record in records if record]
    return [
        f"## `{name}`",
        "",
        inspect.cleandoc(command.help or ""),
        "",
        f"```text\n{command.get_usage(context)}\n```",
        "",
        "| parameter | meaning |",
        "|---|---|",
        *rows,
        "",
    ]


def interface() -> str:
    """Every public function and class, from the docstrings."""
    import polarbear

    names = [name for name in polarbear.__all__ if name != "__version__"]
    lines = ["# Every function and class", "", "Generated from the docstrings. "]
    lines += ["[From Python](python.md) introduces them with examples.", "", "```{eval-rst}"]
    for name in sorted(names, key=lambda one: (one.endswith(("Error", "Warning")), one)):
        found = getattr(polarbear, name)
        if inspect.ismodule(found):
            lines += [f".. automodule:: {found.__name__}", "   :imported-members:", "   :members:"]
        elif isinstance(found, type):
            lines.append(f".. autoclass:: polarbear.{name}")
            if not name.endswith(("Error", "Warning")):
                lines.append("   :members:")
        else:
            lines.append(f".. autofunction:: polarbear.{name}")
        lines.append("")
    return "\n".join([*lines, "```", ""])


def tables() -> str:
    """Every column of the store's tables, from their schemas."""
    import pyarrow as pa

    from polarbear.store import tables as stored

    lines = ["# The tables of a store", "", "```{eval-rst}", inspect.getdoc(stored) or "", "```"]
    for name, schema in vars(stored).items():
        if not isinstance(schema, pa.Schema):
            continue
        lines += ["", f"## {name.lower().replace('_', ' ')}", "", "| column | type | meaning |"]
        lines.append("|---|---|---|")
        for column in schema:
            meaning = (column.metadata or {}).get(b"meaning", b"").decode()
            lines.append(f"| `{column.name}` | `{column.type}` | {_cell(meaning)} |")
    return "\n".join([*lines, ""])


def preferences() -> str:
    """Every preference: an example of it, what it values, and its options."""
    from polarbear.selection.preference import PREFERENCES

    lines = ["# Every preference", "", "Generated from the program; an example is a value of"]
    lines += ["`polarbear select --preference`. [Selection](selection.md) has more of them.", ""]
    lines += ["| preference | example | what it values | options |", "|---|---|---|---|"]
    for name in PREFERENCES:
        preference = PREFERENCES[name]
        options = "; ".join(
            f"`{field.alias or key}`: {field.description}"
            for key, field in preference.model_fields.items()
            if key != "preference"
        )
        cells = (f"`{name}`", f"`{preference.example}`", PREFERENCES.about(name), options)
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return "\n".join([*lines, ""])


def exports() -> str:
    """Every export format: what it writes, where to, and which programs read it."""
    from polarbear.formats import EXPORTS

    lines = ["# Every export format", "", "Generated from the program; the names are values of"]
    lines += ["`polarbear export --format`. [Import and export](formats.md) has their options.", ""]
    lines += ["| format | what is written | to | read by |", "|---|---|---|---|"]
    for name in EXPORTS:
        export = EXPORTS[name]
        targets = ", ".join(f"`PLACE{ending}`" for ending in export.endings) or "`PLACE`"
        cells = (f"`{name}`", EXPORTS.about(name), targets, export.read_by)
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return "\n".join([*lines, ""])


def loaded_from_elsewhere(site: Path) -> Iterator[tuple[Path, str]]:
    """Files of the site that load something from another server, and the reference."""
    for path in sorted(site.rglob("*")):
        if path.suffix in {".html", ".css"}:
            found = LOADED.search(path.read_text(encoding="utf-8"))
            if found and 'rel="canonical"' not in found[0]:
                yield path, found[0]


def _cell(text: Any) -> str:
    return " ".join(str(text).replace("|", "\\|").split())


if __name__ == "__main__":
    sys.exit(build(*map(Path, sys.argv[1:3])))
