"""A report in sentences: an outline, rendered as text or as Markdown.

Uses the report's context, story and figures' data.
"""
