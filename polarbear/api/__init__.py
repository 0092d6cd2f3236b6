"""The Python interface: everything that `import polarbear` offers, and every command's work.

Each question is one call here: it opens and locks the store, does the work through the rooms below,
and returns a typed record. Nothing here prints or exits.

Uses every room but `cli`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
