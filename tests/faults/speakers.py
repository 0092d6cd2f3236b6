"""Algorithms whose last words are hard to print, to store, or to read at all."""

import os


class Unreadable(Exception):
    def __str__(self):
        raise RuntimeError("never")


class Bare(BaseException):
    """An error that is no Exception."""


class Nameless(type):
    @property
    def __name__(cls):
        raise RuntimeError("no name")


class Unnamed(Exception, metaclass=Nameless):
    pass


class Text(str):
    """Text of a class that the process of the race cannot import."""


def raises(error):
    """An algorithm that evaluates one point and raises an error."""

    def solve(problem, seed):
        problem(problem.lower)
        raise error

    return solve


foreign = raises(ValueError("cannot parse " + os.fsdecode(b"caf\xe9.tsp")))
unreadable = raises(Unreadable())
bare = raises(Bare("the end"))
interrupt = raises(KeyboardInterrupt("stop"))
unnamed = raises(Unnamed("who"))
control = raises(RuntimeError("a\0b\x1b[31m"))
subclass = raises(RuntimeError(Text("spoken")))
long = raises(RuntimeError("y" * 10**6))


def prints(problem, seed):
    problem(problem.lower)
    os.write(1, b"\xe9\xff\0")
    print("\udce9")
    raise RuntimeError("printed")
