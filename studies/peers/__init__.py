"""What others would do: one small module a method, none of it PolarBear's own.

Values are `values[instance, algorithm, time]` or, where a method knows one number a run,
`values[instance, algorithm]`; smaller is better everywhere.
"""

import common  # noqa: F401 - makes the modules of benchmarks/ importable
