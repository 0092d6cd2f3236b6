"""Programs that misbehave, each with the statuses that are right for it.

They are scripts of the shell or, where that cannot do it, of Python. Each prints a point at first.
"""

import shlex
import sys

FIRST = "echo 1 5\n"
TAKES_MEMORY = """
import time
taken = []
while True:
    taken.append(b"x" * 2**21)
    time.sleep(0.005)
"""
# A program that is named here ends by itself, or at its limit of memory.
QUICK: dict[str, tuple[str, tuple[str, ...]]] = {
    "fails": ("exit 3", ("crashed",)),
    "fails with the exit code of a killed shell": ("exit 137", ("lost",)),
    "fails and says much": ("head -c 1000000 /dev/zero | tr '\\0' 'e' >&2; exit 1", ("crashed",)),
    "fails and says bytes that are no text": ("printf '\\377\\376\\000' >&2; exit 1", ("crashed",)),
    "aborts": ("kill -ABRT $$", ("crashed",)),
    "meets a segmentation fault": ("kill -SEGV $$", ("crashed",)),
    "kills itself": ("kill -KILL $$", ("lost",)),
    "terminates itself": ("kill -TERM $$", ("lost",)),
    "terminates its group": ("kill -TERM 0", ("lost",)),
    "kills its parent": ("sleep 0.3; kill -KILL $PPID; sleep 1000", ("lost",)),
    "prints words": ("echo no number", ("bad-output",)),
    "prints digits of another script": ("printf '\\331\\241 3\\n'", ("bad-output",)),
    "prints bytes that are no text": ("printf '\\377\\376 3\\n'", ("bad-output",)),
    "prints zero bytes": ("printf '2\\0003\\n'", ("bad-output",)),
    "prints a line without end": ("yes | tr -d '\\n'", ("bad-output",)),
    "prints times that go back": ("echo 0.5 4", ("bad-output",)),
    "prints beyond its budget for ever": (
        "while :; do echo 1000 1; done",
        ("budget",),
    ),
    "closes its output and goes on": ("exec >&- 2>&-; sleep 0.2", ("ended",)),
    "leaves a child": ("sleep 1000 &", ("ended",)),
    "leaves a daemon": ("(setsid env -i sleep 1000 &)", ("ended",)),
    "leaves one that ignores signals": (
        "setsid sh -c 'trap \"\" HUP INT TERM; sleep 1000; sleep 1000' & sleep 0.1",
        ("ended",),
    ),
    "takes memory": (
        f"exec {shlex.quote(sys.executable)} -c {shlex.quote(TAKES_MEMORY)}",
        ("memory",),
    ),
    "leaves fifty children": (
        "i=0; while [ $i -lt 50 ]; do sleep 1000 & i=$((i+1)); done",
        ("ended",),
    ),
}
# A program that is named here is ended at its limit of seconds.
HANGING: dict[str, tuple[str, tuple[str, ...]]] = {
    "loops": ("while :; do :; done", ("timeout",)),
    "sleeps with its output closed": ("exec >&- 2>&-; sleep 1000", ("timeout",)),
    "ignores signals": ("trap '' HUP INT TERM; while :; do sleep 1; done", ("timeout",)),
    "stops itself": ("kill -STOP $$", ("timeout",)),
    "stops its parent": ("sleep 0.3; kill -STOP $PPID; sleep 1000", ("timeout",)),
    "prints comments for ever": ("yes '# a comment'", ("timeout",)),
    "complains for ever": ("yes complaint >&2", ("timeout",)),
    "waits for a child that sleeps": ("setsid sleep 1000 & wait", ("timeout",)),
}


def command(script: str) -> list[str]:
    """The command line of a program that misbehaves."""
    return ["sh", "-c", FIRST + script]
