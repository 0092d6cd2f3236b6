"""Choice of an algorithm or a portfolio for a preference over time and a risk profile.

Uses `facts`' posteriors, and the rooms below.
"""
