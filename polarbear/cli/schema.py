"""`polarbear schema`: the JSON Schema of a configuration, for editors."""

from __future__ import annotations

from polarbear.cli import common


def schema(debug: common.Debug = False) -> None:
    """Print the JSON Schema of a configuration.

    YAML editors complete and check a file by it if its first line refers to it, as in the files of
    `polarbear init`: `# yaml-language-server: $schema=polarbear.schema.json`.
    """
    from polarbear.api import configurations

    common.print_json(configurations.schema())
