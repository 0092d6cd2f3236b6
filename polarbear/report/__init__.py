"""What a store has to tell, for people who look before they read.

Uses everything from `attainment` down; runs and infers nothing.
"""
