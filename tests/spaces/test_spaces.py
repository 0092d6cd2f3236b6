"""Spaces: what files say, what is drawn, what is refused."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from polarbear.errors import ConfigError
from polarbear.settings.options import Source
from polarbear.settings.yaml_lines import parse_yaml
from polarbear.spaces import Space, read_space

PARAMETERS = """\
# name  switch    type   values               condition
alg     "--"      c      (as, mmas, "e as")   # a comment
ants    "--ants " i,log  (5, 100)
q0      "--q0="   r      (0, 1)               | alg %in% c("mmas")
level   "-l"      o      (1, 2, 4, 8)
rate    "-r "     r,log  (0.001, 10)          | !is.na(q0) & q0 > 0.5

[forbidden]
(ants > 50) & alg == "as"
[global]
digits = 3
"""


def from_file(folder: Path, name: str, text: str) -> Space:
    (folder / name).write_text(text, encoding="utf-8")
    return read_space(name, str(folder), Source("config.yaml"), ("space",))


def from_yaml(text: str) -> Space:
    data, source = parse_yaml(text, "config.yaml")
    return read_space(data, ".", source, ())


def draws(space: Space, n: int = 400) -> list[dict]:
    rng = np.random.default_rng(1)
    return [space.draw(rng) for _ in range(n)]


def test_irace_file_is_read_whole(tmp_path):
    space = from_file(tmp_path, "parameters.txt", PARAMETERS)
    assert [p.name for p in space.parameters] == ["alg", "ants", "q0", "level", "rate"]
    assert space.by_name["alg"].values == ("as", "mmas", "e as")
    assert space.by_name["level"].values == (1, 2, 4, 8)
    assert space.by_name["q0"].switch == "--q0="
    for values in draws(space):
        assert ("q0" in values) == (values["alg"] == "mmas")
        assert ("rate" in values) == (values.get("q0", 0) > 0.5)
        assert not (values["alg"] == "as" and values["ants"] > 50)
        assert round(values.get("q0", 0), 3) == values.get("q0", 0)
        assert space.checked(values) == values


def test_drawn_integers_are_uniform_on_their_scale():
    linear = from_yaml("n: {integer: [1, 4]}")
    counts = np.bincount([values["n"] for values in draws(linear, 4000)], minlength=5)[1:]
    assert counts.min() > 0.8 * counts.max()
    logarithmic = from_yaml("n: {integer: [1, 1000], log: true}")
    numbers = [values["n"] for values in draws(logarithmic, 2000)]
    assert 20 < np.median(numbers) < 50
    assert min(numbers) == 1
    assert max(numbers) > 900


def test_parameters_follow_those_of_their_conditions():
    space = from_yaml("b: {real: [0, 1], if: a > 2}\na: {integer: [1, 3]}")
    assert [p.name for p in space.parameters] == ["a", "b"]
    assert {("b" in values) == (values["a"] == 3) for values in draws(space)} == {True}


def test_defaults_are_those_of_used_parameters():
    space = from_yaml(
        "a: {categorical: [x, y], default: x}\n"
        "b: {real: [0, 1], default: 0.5, if: a == 'y'}\n"
        "c: {ordered: [1, 2], default: 2, if: a == 'x'}\n"
        "d: {integer: [1, 2]}"
    )
    assert space.defaults() == {"a": "x", "c": 2}
    assert space.checked({"a": "y"}) == {"a": "y", "b": 0.5}


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"n": 5}, "an integer from 1 to 4, found 5"),
        ({"n": 1.5}, "found 1.5"),
        ({"n": True}, "found True"),
        ({"kind": "z"}, "one of x, y, found 'z'"),
        ({"nn": 1}, "did you mean 'n'"),
        ({"kind": "x", "part": 0.5}, "used only if kind == 'y'"),
        ({"kind": "y", "n": 4}, 'forbidden by "n == 4'),
        ({"n": [1]}, "found a list"),
    ],
)
def test_configuration_outside_of_its_space_is_refused(values, reason):
    space = from_yaml(
        "n: {integer: [1, 4]}\nkind: {categorical: [x, y]}\n"
        "part: {real: [0, 1], if: kind == 'y'}\nforbidden: [\"n == 4 and kind == 'y'\"]"
    )
    reason = reason.replace('"', "'")
    with pytest.raises(ValueError, match=reason):
        space.checked(values)


BAD_LINES = {
    'a "--a " x (1, 2)': "one of i, r, c, o",
    'a "--a " i (1, 2': "line 1: expected NAME",
    'a "--a " i (2, 1)': "below the highest",
    'a "--a " i (1.5, 2)': "bounds of an integer",
    'a "--a " r,log (0, 1)': "positive bounds",
    'a "--a " c (x, x)': "occurs twice",
    'a "--a " i (1, b)': "depend on other",
    'a "--a " i (1, 2, 3)': "two bounds",
    'a "--a " c,log (x, y)': "only numbers",
    'a "--a " r (0, 1) | b == 1': "unknown parameter 'b'",
    'a "--a " r (0, 1) | b == 1\nb "" r (0, 1) | a == 1': "depend on each other",
    'a "--a " r (0, 1)\na "" r (0, 1)': "defined twice",
    '[wrong]\na "--a " r (0, 1)': "is not known",
    "# nothing": "no parameter",
    'a "--a " r (0, 1)\n[forbidden]\na = 1': "line 3",
}


@pytest.mark.parametrize("text", BAD_LINES)
def test_flaw_of_an_irace_file_is_one_line(tmp_path, text):
    with pytest.raises(ConfigError, match=BAD_LINES[text]) as refused:
        from_file(tmp_path, "parameters.txt", text)
    assert "parameters.txt" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: {real: [0, 1], integer: [0, 1]}", "found 2 of them"),
        ("a: {rael: [0, 1]}", "line 1: a.rael: .*did you mean 'real'"),
        ("a: {real: [0]}", "two bounds"),
        ("a: {real: [0, 1], default: 2}", "found 2"),
        ("a: {categorical: []}", "no values"),
        ("a: {real: [0, 1]}\nforbidden: a > 1", "list of conditions"),
        ("a: 3", "expected a mapping"),
        ("forbidden: []", "no parameter"),
    ],
)
def test_flaw_of_a_mapping_is_one_line(text, reason):
    with pytest.raises(ConfigError, match=reason):
        from_yaml(text)


def test_a_file_that_is_missing_is_named(tmp_path):
    for name in ("no.txt", "no.yaml"):
        with pytest.raises(ConfigError, match=f"cannot read .*{name}"):
            read_space(name, str(tmp_path), Source("config.yaml"), ("space",))


def test_a_space_that_forbids_everything_is_refused():
    with pytest.raises(ValueError, match="draws is forbidden"):
        from_yaml("a: {real: [0, 1]}\nforbidden: [a >= 0]").draw(np.random.default_rng(1))


PCS = """\
lr real [0.1,10] [1] log
layers integer [1,8] [2]
kind categorical {x,y} [x]
size ordinal {small,medium,large} [small]
lr | kind == x && layers > 2
layers | size > small
{kind=y, layers=3}
"""
OLD_PCS = "lr [0.1,10] [1]l\nkind {x,y} [x]\nlr | kind in {x}\n{kind=y}\n"


@pytest.mark.peer
def test_pcs_and_json_of_configspace_are_the_same_space(tmp_path):
    from ConfigSpace.read_and_write import pcs_new

    space = from_file(tmp_path, "space.pcs", PCS)
    pcs_new.read(PCS.splitlines()).to_json(tmp_path / "space.json")
    as_json = read_space("space.json", str(tmp_path), Source("config.yaml"), ())
    assert as_json == space
    assert space.by_name["lr"].is_log
    assert space.defaults() == {"kind": "x", "size": "small"}
    for values in draws(space):
        assert ("layers" in values) == (values["size"] != "small")
        assert ("lr" in values) == (values["kind"] == "x" and values.get("layers", 0) > 2)
        assert not (values["kind"] == "y" and values.get("layers") == 3)


@pytest.mark.peer
def test_old_pcs_and_relations_are_read(tmp_path):
    import ConfigSpace

    assert draws(from_file(tmp_path, "old.pcs", OLD_PCS), 20)[0].keys() == {"kind", "lr"}
    built = ConfigSpace.ConfigurationSpace({"a": (1, 5), "b": (1, 5), "c": 3.0})
    less = ConfigSpace.ForbiddenLessThanRelation(built["a"], built["b"])
    built.add(less)
    built.to_json(tmp_path / "built.json")
    space = read_space("built.json", str(tmp_path), Source("config.yaml"), ())
    assert all(values["a"] >= values["b"] and values["c"] == 3.0 for values in draws(space))


@pytest.mark.peer
def test_a_file_that_configspace_cannot_read_is_named(tmp_path):
    for name, text in {"bad.json": "a [1,", "bad.pcs": "a [1,2] [7]"}.items():
        with pytest.raises(ConfigError, match=f"ConfigSpace cannot read .*{name}"):
            from_file(tmp_path, name, text)


def test_a_yaml_file_has_the_keys_of_a_mapping(tmp_path):
    data = {"a": {"real": [0, 1]}}
    assert from_file(tmp_path, "space.yaml", yaml.safe_dump(data)) == from_yaml("a: {real: [0, 1]}")
