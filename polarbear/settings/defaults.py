"""Defaults that the Python interface and the command line share, apart from decision levels.

This module imports nothing that takes long, since the command line reads it for its help.
"""

REGRET = 0.01  # the expected regret below which a race for one preference ends
RESAMPLES = 1000  # the number of bootstrap resamples of the classical comparison
GRID_POINTS = 30  # the number of times of a grid of imported data
FORMAT = "table"  # the format of imported data
FONT_SIZE = 8.0  # points, of figures
FONT = "sans"  # of figures
WIDTH = "double"  # of figures: two columns of a paper
