"""Entry point of `polarbear` and `python -m polarbear`."""

import gc
import signal
import sys
import time

INTERRUPTED = 130
NEW_OBJECTS = 20_000  # between two collections: most objects at the start are there to stay


def main() -> None:
    """Import and run the command line, so that Ctrl-C during the import is one line, too."""
    gc.set_threshold(NEW_OBJECTS)
    if not _clock_is_readable():
        print("polarbear: the clock of this machine cannot be read: set its date", file=sys.stderr)
        sys.exit(1)
    try:
        from polarbear.cli import main as run

        run()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C would end in a traceback
        exec("")  # forgets an interrupt inside another `exec`, by which Python would end itself
        print("polarbear: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except MemoryError:
        print("polarbear: there is not enough memory; what was stored is intact", file=sys.stderr)
        sys.exit(1)


def _clock_is_readable() -> bool:
    """Whether Python can represent the time, which some of its modules ask for when imported."""
    try:
        time.time()
    except OverflowError:  # after the year 2262
        return False
    return True


if __name__ == "__main__":
    main()
