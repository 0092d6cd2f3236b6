"""Proposers: the same request gives the same candidates, inside of the space and new."""

import json
from dataclasses import replace

import numpy as np
import pytest

from polarbear.config.design_spaces import Design, DesignSpace
from polarbear.errors import ConfigError
from polarbear.proposers import PROPOSERS
from polarbear.proposers.base import Member, Request, Tried
from polarbear.proposers.proposals import ask, proposer_of
from polarbear.settings.yaml_lines import parse_yaml
from polarbear.spaces import Space, read_space
from polarbear.store.generations import StoredProposal, StoredVerdict

SPACE = """
step: {real: [0.001, 1], log: true, default: 0.1}
size: {integer: [1, 100]}
kind: {categorical: [a, b, c]}
level: {ordered: [1, 2, 3, 4, 5, 6, 7, 8]}
part: {real: [0, 1], if: kind == 'a'}
forbidden: ["kind == 'b' and size > 50"]
"""


def space() -> Space:
    data, source = parse_yaml(SPACE, "config.yaml")
    return read_space(data, ".", source, ())


class Anything:
    """Takes every configuration of a space."""

    def configured(self, name, values, space):
        from polarbear.algorithms.python import Python

        return Python(name=name, function="steps.py:walk", options=dict(values))


def request(**changes) -> Request:
    values = {"step": 0.1, "size": 10, "kind": "c", "level": 2}
    plain = Request(
        generation=1,
        candidates=12,
        seed=5,
        axis="evaluations",
        times=(10.0, 100.0),
        members=(Member("mine", (0.5, 1.0), Design("mine", values)),),
        tried=(),
        spaces={"mine": DesignSpace(Anything(), space())},
    )
    return replace(plain, **changes)


def tried(k: int, score: float) -> Tried:
    values = {"step": 0.01 * (k + 1), "size": k + 1, "kind": "c", "level": 1}
    proposal = StoredProposal(f"mine 1.{k}", "mine", values)
    return Tried(1, proposal, StoredVerdict(proposal.name, "no gain", score, "", 10, 100))


DRAWING = ["uniform", "elites", pytest.param("optuna", marks=pytest.mark.peer)]


@pytest.mark.parametrize("name", DRAWING)
def test_candidates_are_valid_new_and_repeatable(name):
    history = tuple(tried(k, k / 20) for k in range(15))
    asked = request(generation=3, tried=history)
    proposer = PROPOSERS[name]()
    first = proposer.propose(asked)
    assert first == proposer.propose(asked)
    assert first != proposer.propose(replace(asked, seed=6))
    assert len(first) == 12
    for proposed in first:
        checked = asked.spaces["mine"].space.checked(proposed.values)
        assert {key: pytest.approx(value) for key, value in checked.items()} == proposed.values
        assert asked.is_new("mine", proposed.values)
    assert len({json.dumps(proposed.values, sort_keys=True) for proposed in first}) == 12


def test_elites_narrow_over_generations():
    proposer = PROPOSERS["elites"](explore=0)
    spreads = []
    for generation in (1, 12):
        asked = request(generation=generation, candidates=200)
        proposals = proposer.propose(asked)
        steps = np.log([proposed.values["step"] for proposed in proposals])
        spreads.append(steps.std())
        kinds = [proposed.values["kind"] for proposed in proposals]
        levels = np.array([proposed.values["level"] for proposed in proposals])
        if generation == 12:
            assert abs(np.median(steps) - np.log(0.1)) < 0.5
            assert kinds.count("c") > 150
            assert np.median(levels) <= 3
    assert spreads[1] < spreads[0] / 3


def test_parents_are_those_that_lead_and_each_is_used():
    low = {"step": 0.002, "size": 10, "kind": "c", "level": 2}
    high = {**low, "step": 0.9}
    members = (
        Member("low", (1.0, 0.9), Design("mine", low)),
        Member("high", (0.0, 0.1), Design("mine", high)),
    )
    asked = request(generation=15, candidates=200, members=members)
    proposals = PROPOSERS["elites"](explore=0).propose(asked)
    n_low = sum(proposed.values["step"] < 0.05 for proposed in proposals)
    assert 120 < n_low < 180


def test_algorithms_with_a_space_take_turns():
    two = {"mine": request().spaces["mine"], "other": request().spaces["mine"]}
    proposals = PROPOSERS["uniform"]().propose(request(spaces=two, candidates=3))
    assert [proposed.algorithm for proposed in proposals] == ["mine", "other", "mine"]


def test_a_program_reads_the_set_and_prints_candidates(tmp_path):
    program = tmp_path / "propose.py"
    program.write_text(
        "import json, sys\n"
        "request = json.load(sys.stdin)\n"
        "member = request['members'][0]['options']\n"
        "print(json.dumps([{'options': {**member, 'size': request['generation'] + 40}}]))\n"
    )
    proposer = proposer_of({"use": "command", "command": "python3 propose.py"}, {})
    generation = ask(proposer, request(folder=str(tmp_path)))
    (proposal,) = generation.proposals
    assert proposal.flaw == ""
    assert proposal.values["size"] == 41
    assert proposal.entry["options"]["kind"] == "c"


@pytest.mark.parametrize(
    ("program", "failure"),
    [
        ("print('hello')", "printed no JSON"),
        ("print('{}')", "a list of candidates"),
        ("print('[{}]')", "neither the key"),
        ('print(\'[{"options": {}, "x": 1}]\')', "unknown key 'x'"),
        ("print('[]')", "proposed nothing"),
        ("import sys; sys.exit('out of ideas')", "out of ideas"),
        ("import time; time.sleep(60)", "took more than 0.5 s"),
    ],
)
def test_a_program_that_fails_is_a_failure_of_the_generation(tmp_path, program, failure):
    (tmp_path / "propose.py").write_text(program)
    seconds = 0.5 if "sleep" in program else 60
    options = {"use": "command", "command": "python3 propose.py", "seconds": seconds}
    generation = ask(proposer_of(options, {}), request(folder=str(tmp_path)))
    assert failure in generation.failure
    assert generation.proposals == []


def test_a_file_is_replayed_in_its_order(tmp_path):
    (tmp_path / "sequence.json").write_text(
        json.dumps([{"options": {"size": k}} for k in range(1, 6)])
    )
    proposer = proposer_of({"use": "replay", "source": "sequence.json"}, {})
    sizes = []
    for generation in (1, 2, 3):
        asked = request(generation=generation, candidates=2, folder=str(tmp_path))
        sizes.append([proposed.values["size"] for proposed in proposer.propose(asked)])
    assert sizes == [[1, 2], [3, 4], [5]]


@pytest.mark.parametrize(
    ("propose", "reason"),
    [
        ("elits", "did you mean 'elites'"),
        ({"command": "x"}, "'use' is missing"),
        ({"use": "elites", "narowing": 1}, "did you mean 'narrowing'"),
        ("uniform", "no algorithm has one"),
        ({"use": "command"}, "'command' is missing"),
    ],
)
def test_a_wrong_proposer_is_refused(propose, reason):
    with pytest.raises(ConfigError, match=reason):
        proposer_of(propose, {})


def test_replay_of_what_is_missing_says_so(tmp_path):
    proposer = proposer_of({"use": "replay", "source": "no.json"}, {})
    assert "cannot read" in ask(proposer, request(folder=str(tmp_path))).failure
