"""Proposers of tests."""

import json
from pathlib import Path

ASKED = Path(__file__).with_name("asked")


def changing(request):
    """Steps that are different whenever it is asked."""
    n_asked = len(ASKED.read_text()) if ASKED.exists() else 0
    ASKED.write_text("x" * (n_asked + 1))
    return [{"options": {"step": 0.011 + 0.01 * n_asked + 0.3 * k}} for k in range(2)]


def broken(request):
    raise RuntimeError("no idea")


def mixed(request):
    code = Path(__file__).with_name("steps.py").read_text()
    return [
        {"options": {"step": 7}},
        {"options": {"step": 0.5}, "algorithm": "wlak"},
        {"options": {"step": 0.05}},
        {"options": {"step": 0.05}},
        {"code": code, "function": "walk", "options": {"step": 0.06}},
        {"code": "def optimise(problem, seed):\n    raise ValueError('wrong')\n"},
    ]


def remembering(request):
    Path(__file__).with_name("request.json").write_text(json.dumps(request))
    return [{"options": {"step": 0.05 + 0.1 * request["generation"]}}]
