"""Methods of others: one small module for each, independent of PolarBear.

Values are `values[instance, algorithm, time]` or, where a method knows one number a run,
`values[instance, algorithm]`; smaller is better everywhere.
"""

import common  # noqa: F401 - makes the modules of benchmarks/ importable
