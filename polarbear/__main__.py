"""Entry point of `polarbear` and `python -m polarbear`."""

import signal
import sys

INTERRUPTED = 130


def main() -> None:
    """Import and run the command line, so that Ctrl-C during the import is one line, too."""
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


if __name__ == "__main__":
    main()
