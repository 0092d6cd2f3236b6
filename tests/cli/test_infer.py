"""`polarbear infer`, on runs and on what was imported."""

import pytest
from scipy.stats import beta

from tests.support import Project

QUICK = ("--model", "dirichlet", "--draws", 2000)


def test_json_has_the_documented_keys_and_a_second_answer_comes_from_the_store(collected):
    first = collected.json("infer", "config", *QUICK, "--pairs")
    assert (first["model"], first["engine"], first["draws"]) == ("dirichlet", "native", 2000)
    assert first["method"] != "auto"
    assert first["seconds"] > 0
    assert first["diagnostics"]["passed"] is True
    assert len(first["ratings"]) == 3 * 3
    assert {"a", "b", "t", "p_dominates", "p_equivalent"} <= set(first["pairs"][0])
    assert len(first["pairs"]) == 3 * 2 * 3
    assert "joint" not in first
    sums = {t: sum(r["mean"] for r in first["ratings"] if r["t"] == t) for t in (10, 100, 1000)}
    assert all(total == pytest.approx(1, abs=1e-5) for total in sums.values())
    assert collected.json("status", "config")["posteriors"] == 1
    second = collected.json("infer", "config", *QUICK, "--pairs")
    assert second["from_store"] is True
    assert {**second, "from_store": False} == first


def test_the_key_that_is_printed_selects_the_posterior(collected: Project):
    shown = collected.done("infer", "config", *QUICK).stdout.splitlines()[0]
    key = shown.rpartition("; key ")[2]
    assert collected.json("infer", "config", *QUICK)["key"] == key
    assert f"(key {key})" in collected.done("select", "config", "--key", key).stdout
    elsewhere = ("infer", "config", *QUICK, "--until", "100")
    assert collected.json(*elsewhere)["key"] is None
    assert "key" not in collected.done(*elsewhere).stdout.splitlines()[0]


def test_a_temporal_model_speaks_about_all_times_at_once(collected: Project):
    answer = collected.json("infer", "config", "--model", "gp", "--draws", 2000, "--pairs")
    best = next(row for row in answer["joint"] if (row["a"], row["b"]) == ("A", "C"))
    assert best["p_dominates"] > 0.9
    assert 0 <= best["p_crosses"] <= 1


def test_the_table_shows_shares_of_firsts_and_pairs(collected: Project):
    options = ("--pairs", "--at", "10,1000", "--algorithms", "A,C")
    done = collected.done("infer", "config", *QUICK, *options)
    assert "share of firsts at t =" in done.stdout
    assert "A > C" in done.stdout
    assert "B" not in done.stdout


def test_imported_tables_and_rankings_are_inferred_like_runs(project: Project):
    rows = [
        f"{a},i{i},{t},{(a == 'B') + i * 0.01}" for i in range(20) for t in (1, 5) for a in "AB"
    ]
    (project.folder / "d.csv").write_text("\n".join(["algorithm,instance,t,y", *rows]))
    project.json("import", "d.csv", "--store", "values")
    ranks = [f"i{i},{t},{a},{1 + (a == 'B')}" for i in range(20) for t in (1, 5) for a in "AB"]
    (project.folder / "r.csv").write_text("\n".join(["instance,t,algorithm,position", *ranks]))
    project.json("import", "r.csv", "--format", "rankings", "--store", "ranks")
    for store in ("values", "ranks"):
        answer = project.json("infer", store, *QUICK, "--pairs", "--at", "5")
        better = next(row for row in answer["pairs"] if row["a"] == "A")
        assert better["p_dominates"] > 0.99


def table_of(rename: dict[str, str], prefix: str) -> str:
    """Values of two algorithms on 9 instances at two times, with these names."""
    lines = ["algorithm,instance,t,y"]
    for i in range(9):
        for name, better_at in (("A", (1, 4, 6)), ("B", (0, 2, 3, 5, 7, 8))):
            for t in (1, 5):
                y = (0.0 if i in better_at else 1.0) + 1 / t
                lines.append(f"{rename[name]},{prefix}{i},{t},{y}")
    return "\n".join(lines)


def test_names_of_algorithms_and_instances_change_no_probability_of_a_pair(project: Project):
    """`infer` and `select` say the same number, that of the Beta distribution, for any names."""
    p_better = beta(1 + 3, 1 + 6).sf(0.5)
    names = ({"A": "A", "B": "B"}, {"A": "zebra", "B": "yak"})
    for k, rename in enumerate(names):
        (project.folder / f"{k}.csv").write_text(table_of(rename, prefix="ij"[k]))
        project.json("import", f"{k}.csv", "--store", f"s{k}")
        inferred = project.json("infer", f"s{k}", "--pairs")
        (row,) = [row for row in inferred["pairs"] if (row["a"], row["t"]) == (rename["A"], 5)]
        assert row["p_dominates"] == pytest.approx(p_better, rel=1e-12)
        assert row["p_wins"] == pytest.approx((1 + 3) / (2 + 9), rel=1e-12)
        assert row["error"] == 0
        selected = project.json("select", f"s{k}", "--preference", "at 5", "--sweep")
        rows = {row["algorithm"]: row for row in selected["ranking"]}
        assert rows[rename["A"]]["p2bb"] == pytest.approx(p_better, rel=1e-12)
        assert rows[rename["A"]]["mean"] == pytest.approx((1 + 3) / (2 + 9), rel=1e-12)
        assert rows[rename["A"]]["p2bb_error"] == 0
        assert selected["sweep"]["p2bb"][rename["A"]][-1] == pytest.approx(p_better, rel=1e-12)
        assert "Monte-Carlo" not in " ".join(selected["notes"])
