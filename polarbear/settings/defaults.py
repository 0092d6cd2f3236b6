"""Defaults that configurations, the Python interface and the command line share."""

ALPHA = 0.99  # the decision level of a race
EPSILON = 0.05  # win probabilities this near to even are equivalent
REGRET = 0.01  # the expected regret below which a race for one preference ends
TOLERANCE = 0.05  # the loss of win rate that a gate tolerates
GATE_ALPHA = 0.95  # the decision level of a gate
RESAMPLES = 1000  # the number of bootstrap resamples of the classical comparison
GRID_POINTS = 30  # the number of times of a grid
FORMAT = "table"  # the format of imported data
FONT_SIZE = 8.0  # points, of figures
FONT = "sans"  # of figures
WIDTH = "double"  # of figures: two columns of a paper
