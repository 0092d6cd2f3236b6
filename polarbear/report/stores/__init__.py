"""Several stores side by side: what differs between them, and how sure that is.

Uses the report's context, drawing and prose; knows no page.
"""
