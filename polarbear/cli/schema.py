"""`polarbear schema`: what editors complete and check a configuration by."""

from __future__ import annotations

from polarbear.cli import common


def schema(debug: common.Debug = False) -> None:
    """Print the JSON Schema of a configuration.

    YAML editors complete and check by it a file whose first line refers to it, as `polarbear init`
    writes it: `# yaml-language-server: $schema=polarbear.schema.json`.
    """
    from polarbear.config.schema import config_schema

    common.print_json(config_schema())
