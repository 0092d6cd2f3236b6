"""The documentation's site and its walks."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from mkdocs.exceptions import PluginError

from docs import hooks, walk

DOCS = Path(walk.__file__).parent


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(walk.LEFT))
def test_a_walk_leads_where_it_says(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    here = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    monkeypatch.setenv("PATH", here)
    walk.walk(name, tmp_path)


def test_every_walk_is_walked():
    assert sorted(path.stem for path in walk.WALKS.glob("*.md")) == sorted(walk.LEFT)
    assert set(walk.SAID) == set(walk.LEFT)


def test_a_walk_whose_command_fails_or_leaves_nothing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(walk, "WALKS", tmp_path)
    (tmp_path / "data.md").write_text(
        "```text a/file\nhere\n```\n\n```sh\ncat a/file\nfalse\n```\n"
    )
    with pytest.raises(RuntimeError, match="data: exit code 1"):
        walk.walk("data", tmp_path)
    (tmp_path / "data.md").write_text("```sh\ntrue\n```\n")
    with pytest.raises(RuntimeError, match="mine.html should be there"):
        walk.walk("data", tmp_path)


def test_the_command_of_the_workflows_is_one_that_the_walk_runs():
    page = (walk.WALKS / "pull-request.md").read_text()
    run = "".join(text for lang, _, text in walk.blocks(page) if lang == "sh")
    files = {file: text for _, file, text in walk.blocks(page) if file}
    for name in (".github/workflows/anytime.yml", ".gitlab-ci.yml"):
        (command,) = re.findall(r"(polarbear gate .*)", files[name])
        assert command in run


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://example.org/a.js"></script>',
        "<link rel='stylesheet' href='//example.org/a.css'>",
        '<img alt="" src="http://example.org/a.png">',
        "<style>@import 'https://example.org/a.css'</style>",
        "<style>a {background: url(https://example.org/a.png)}</style>",
    ],
)
def test_a_site_that_asks_elsewhere_is_refused(text: str, tmp_path: Path):
    page = tmp_path / "index.html"
    page.write_text('<a href="https://example.org">a link asks for nothing</a>')
    hooks.on_post_build({"site_dir": str(tmp_path)})
    page.write_text(text)
    with pytest.raises(PluginError, match="asks elsewhere"):
        hooks.on_post_build({"site_dir": str(tmp_path)})


def test_blocks_that_are_files_show_their_name_and_files_outside_become_pages():
    def shown(text: str, uri: str) -> str:
        return hooks.on_page_markdown(text, SimpleNamespace(file=SimpleNamespace(src_uri=uri)))

    assert shown("```yaml a.yaml\nb: 1\n```", "x.md") == "`a.yaml`\n\n```yaml\nb: 1\n```"
    assert shown("[a](../LICENSE)", "x.md") == "[a](repository/LICENSE)"
    assert shown("[a](../racing.md)", "walks/x.md") == "[a](../racing.md)"


def test_files_that_pages_lead_to_bring_those_they_lead_to(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(hooks, "ROOT", tmp_path)
    for place, text in {
        "docs/a.md": "[b](../results/b.md) [c](c.md) [d](https://example.org)",
        "results/b.md": "[beside](c.md) [back](b.md#top) [up](../e.py) [d](https://example.org)",
        "results/c.md": "nothing more",
        "e.py": "[not](followed.md)",
    }.items():
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(text)
    found = hooks.repository_files(tmp_path / "docs")
    assert set(found) == {"results/b.md", "results/c.md", "e.py"}
    assert found["results/c.md"] == "nothing more"


def test_every_option_stands_on_its_page_as_init_writes_it():
    from polarbear.config.template import commented_config

    assert commented_config() in hooks.every_option()


def test_the_glossary_is_in_order_and_has_the_nouns_of_the_readme():
    def words(text: str) -> list[str]:
        return re.findall(r"^\| ([^|`]+) \|", text, re.MULTILINE)[1:]

    glossary = words((DOCS / "glossary.md").read_text())
    assert glossary == sorted(glossary, key=str.lower)
    readme = (DOCS.parent / "README.md").read_text()
    nouns = words(readme[readme.index("## The nouns") : readme.index("## Citing")])
    assert {noun.replace("Pareto set", "anytime Pareto set") for noun in nouns} <= set(glossary)
