"""Keys of an instance's spec that other rooms read, if present."""

PROBLEM = "problem"  # names the problem of which an instance is one run of several
FUNCTION = "function"
DIMENSION = "dimension"  # the number of variables
NUMBER = "instance"  # its number among the function's instances
OPTIMUM = "optimum"  # of imported data: the best possible value
FAMILY = "family"  # the kind of instance, where a suite has several
