"""A late entry: the newcomer's ratings, given what is believed of the others.

Uses the models, loops, chains and diagnostics.
"""
