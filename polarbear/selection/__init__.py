"""Choice of an algorithm or a portfolio for a preference over time and a risk profile.

Uses `driver`'s posteriors.
"""
