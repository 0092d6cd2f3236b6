"""What the site has beside its pages, made when it is built (`mkdocs build --strict`).

- the picture of the first page, drawn from the quick start's race;
- the page with every option, as `polarbear init` writes it;
- files of the repository that pages refer to, and those that these refer to.

A site that asks anybody else for anything is refused.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
PICTURE = "leaders"  # the figure that shows who is the best when
OUTSIDE = re.compile(r"\]\(\.\./([^)#]+)")  # from a page of the first level: out of docs/
BESIDE = re.compile(r"\]\((?!\w+:)([^)#]+)")  # from a file to another, by its place
NAMED_BLOCK = re.compile(r"^```(\w+) (\S+)$", re.MULTILINE)
ASKS_OUTSIDE = re.compile(
    r"""<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=["'](?:https?:)?//[^"']+"""
    r"""|@import\s+["']?(?:https?:)?//|url\(["']?(?:https?:)?//[^)]+""",
    re.IGNORECASE,
)


def on_files(files: Any, config: Any) -> Any:
    """Add what is made from the code."""
    made = {"pictures/quickstart.svg": picture(), "every-option.md": every_option()}
    for place, content in repository_files(Path(config["docs_dir"])).items():
        made[f"repository/{place}"] = content
    for place, content in made.items():
        files.append(File.generated(config, place, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Blocks that are files have their name above them; the repository's files are pages, too."""
    if "/" not in page.file.src_uri:
        markdown = OUTSIDE.sub(r"](repository/\1", markdown)
    return NAMED_BLOCK.sub(r"`\2`\n\n```\1", markdown)


def on_post_build(config: Any) -> None:
    """Refuse a site that fetches anything from elsewhere."""
    for path in sorted(Path(config["site_dir"]).rglob("*")):
        if path.suffix in {".html", ".css"}:
            found = ASKS_OUTSIDE.search(path.read_text(encoding="utf-8"))
            if found and 'rel="canonical"' not in found[0]:
                raise PluginError(f"{path} asks elsewhere: {found[0]}")


def repository_files(docs: Path) -> dict[str, str]:
    """The files that pages lead to, over other such files too, by their place."""
    found: dict[str, str] = {}
    ahead = [
        place for page in docs.glob("*.md") for place in OUTSIDE.findall(page.read_text("utf-8"))
    ]
    while ahead:
        place = ahead.pop()
        if place in found:
            continue
        found[place] = (ROOT / place).read_text(encoding="utf-8")
        if place.endswith(".md"):
            linked = (ROOT.joinpath(place).parent / to for to in BESIDE.findall(found[place]))
            ahead += [path.resolve().relative_to(ROOT).as_posix() for path in linked]
    return found


def picture() -> str:
    """Who is the best when, in the quick start's race, as SVG."""
    with tempfile.TemporaryDirectory() as folder:
        _polarbear("race", ROOT / "configs" / "quickstart.yaml", "--store", f"{folder}/race", "-q")
        drawn = ("--svg", f"{folder}/figures", "--only", PICTURE, "-q")
        _polarbear("report", f"{folder}/race", *drawn)
        return Path(folder, "figures", f"{PICTURE}.svg").read_text(encoding="utf-8")


def every_option() -> str:
    """The configuration that `init` writes, as a page."""
    from polarbear.config.template import commented_config

    return (
        "# Every option in one file\n\nWhat `polarbear init` writes: it runs as it is. "
        f"[Configuration](configuration.md) explains it.\n\n```yaml\n{commented_config()}```\n"
    )


def _polarbear(*arguments: Any) -> None:
    command = [sys.executable, "-m", "polarbear", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PluginError(f"{' '.join(command)}: {done.stderr}")
