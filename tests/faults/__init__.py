"""Disks that fail, put under the store: power cuts, lost and torn writes, errors at any step.

``recorded`` writes down every step of a command; ``after_cut`` makes the folder that a power cut
leaves after some of them; ``failing`` has one step fail. See crashes.py for whole commands.
"""
