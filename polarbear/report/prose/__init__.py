"""A report in sentences: an outline, told as text or as Markdown.

Uses the report's material, story and figures' data.
"""
