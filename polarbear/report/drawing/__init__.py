"""How figures are drawn and written: palette, style, axes, lettering, files.

Uses the report's context, and knows no figure's content.
"""
