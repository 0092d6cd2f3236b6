"""What the documentation says about options is what they are."""

from __future__ import annotations

import json
from pathlib import Path

from polarbear.inference.options import ModelOptions
from polarbear.options import Options

DOCS = Path(__file__).parents[2] / "docs"


def test_every_option_of_inference_stands_in_the_documentation_with_its_default():
    text = (DOCS / "inference.md").read_text()
    for name, field in ModelOptions.model_fields.items():
        default = field.default
        shown = default.model_dump() if isinstance(default, Options) else default
        assert f"| `{name}` | `{json.dumps(shown)}` |" in text, name
