"""Several stores side by side: what differs between them, and how sure that is.

Uses the report's material, drawing and prose; knows no page.
"""
