"""A report as one HTML file that opens from disk and needs no network.

Uses the report's story and the figures' data.
"""

from __future__ import annotations

from polarbear.report.page.build import is_page, page, write_page

__all__ = ["is_page", "page", "write_page"]
