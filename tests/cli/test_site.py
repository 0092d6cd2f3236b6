"""The documentation site and the tutorials."""

import re
from pathlib import Path

import pytest

from docs import build, run_tutorials
from tests.cli.program import commands

DOCS = Path(build.__file__).parent
PAGES = {"tutorials", "how-to", "reference", "explanation"}


def test_every_tutorial_is_run():
    pages = sorted(path.stem for path in run_tutorials.TUTORIALS.glob("*.md"))
    assert pages == sorted([*run_tutorials.WRITTEN, "index"])
    assert set(run_tutorials.PRINTED) == set(run_tutorials.WRITTEN)


def test_a_tutorial_whose_command_fails_or_leaves_no_file_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(run_tutorials, "TUTORIALS", tmp_path)
    page = tmp_path / "data.md"
    page.write_text("```text a/file\nhere\n```\n\n```sh\ncat a/file\nfalse\n```\n")
    with pytest.raises(RuntimeError, match="data: exit code 1"):
        run_tutorials.run("data", tmp_path)
    page.write_text("```sh\ntrue\n```\n")
    with pytest.raises(RuntimeError, match="mine.html should be there"):
        run_tutorials.run("data", tmp_path)


def test_the_command_of_the_workflows_is_one_that_the_tutorial_runs():
    page = (run_tutorials.TUTORIALS / "pull-request.md").read_text()
    blocks = run_tutorials.blocks(page)
    run = "".join(text for language, _, text in blocks if language == "sh")
    files = {file: text for _, file, text in blocks if file}
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
def test_a_site_that_loads_from_elsewhere_is_found(text: str, tmp_path: Path):
    page = tmp_path / "index.html"
    page.write_text('<a href="https://example.org">a link loads nothing</a>')
    assert not list(build.loaded_from_elsewhere(tmp_path))
    page.write_text(text)
    assert [path for path, _ in build.loaded_from_elsewhere(tmp_path)] == [page]


def test_pages_are_staged_with_names_of_files_and_with_the_repository_files_they_link_to(tmp_path):
    build.stage(tmp_path)
    tutorial = (tmp_path / "tutorials" / "solver.md").read_text()
    assert "`tours.yaml`\n\n```yaml\n" in tutorial
    trust = (tmp_path / "explanation" / "trust.md").read_text()
    assert "(../repository/benchmarks/results/race.md)" in trust
    assert (tmp_path / "repository" / "benchmarks" / "results" / "race.md").is_file()
    assert "{page}" not in (tmp_path / "gallery.md").read_text()


def test_generated_pages_have_every_option_command_name_and_column():
    import polarbear
    from polarbear.config.template import commented_config

    assert commented_config() in build.every_option()
    reference = build.command_line()
    for name in commands():
        assert f"## `polarbear {name}" in reference
    interface = build.interface()
    for name in polarbear.__all__:
        assert name == "__version__" or re.search(rf":: polarbear\.(api\.)?{name}\n", interface)
    assert "| `fingerprint` |" in build.tables()


def test_the_glossary_is_in_order_and_has_the_nouns_of_the_readme():
    def words(text: str) -> list[str]:
        return re.findall(r"^\| ([^|`]+) \|", text, re.MULTILINE)[1:]

    glossary = words((DOCS / "reference" / "glossary.md").read_text())
    assert glossary == sorted(glossary, key=str.lower)
    readme = (DOCS.parent / "README.md").read_text()
    nouns = words(readme[readme.index("## The nouns") : readme.index("## Citing")])
    assert {noun.replace("Pareto set", "anytime Pareto set") for noun in nouns} <= set(glossary)
