"""A report as one HTML file that opens from disk and needs no network.

Uses the report's story and the figures' data.
"""
