"""Sphinx configuration of the documentation site; `python docs/build.py FOLDER` builds it."""

from __future__ import annotations

project = "PolarBear"
author = "the PolarBear authors"
html_title = "PolarBear"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["misc.highlighting_failure"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
smartquotes = False  # options keep their two dashes
