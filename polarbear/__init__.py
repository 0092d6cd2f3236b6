"""PolarBear compares anytime algorithms at every budget, to choose one when the budget is known.

    import polarbear as pb

    store = pb.race("config.yaml")
    store.select("at 1000").choice

docs/reference/python.md describes all names. They are listed in `__init__.pyi`, and each is
imported when it is first used, because NumPy and polars take longer to import than most commands.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]


def __dir__() -> list[str]:
    return sorted(__all__)
