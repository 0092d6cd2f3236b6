"""Seeds derived from names and numbers."""

import hashlib


def derived_seed(*parts: object) -> int:
    """A seed of 31 bits that depends on all the parts and on nothing else."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


def run_seed(seed: int, instance: str, algorithm: str | None, contract: str | None = None) -> int:
    """The seed of a run, which depends on these only: adding an algorithm changes no run.

    Without the algorithm it is the seed that all algorithms share on an instance. ``contract`` is
    the budget of one of several runs of a contract algorithm.
    """
    parts = [part for part in (algorithm, contract) if part is not None]
    return derived_seed(seed, "run", instance, *parts)
