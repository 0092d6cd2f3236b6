"""A paper's kit: tables for booktabs, figures as PGF and PDF, captions, and a document of them all.

No TeX system is needed to write it. Uses the report's context, figures and drawing.
"""
