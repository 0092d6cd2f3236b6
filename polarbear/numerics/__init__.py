"""What numerical rooms share: compiled loops, threads, seeds, kinds of arrays.

Uses nothing of ours.
"""
