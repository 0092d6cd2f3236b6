"""What a store has to tell, for people who look before they read.

Uses everything from `classical` down; runs and infers nothing.
"""
