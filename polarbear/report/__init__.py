"""Reports of a store: text, Markdown, figures, a page and LaTeX.

Uses everything from `classical` down; runs and infers nothing.
"""
