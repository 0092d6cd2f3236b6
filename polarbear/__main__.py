"""`python -m polarbear` is `polarbear`. What is loaded takes a moment, which Ctrl-C may end."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Load the command line and run a command; an interrupt at any moment is a line, no more."""
    try:
        from polarbear.cli import main as run

        run()
    except KeyboardInterrupt:
        print("polarbear: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except MemoryError:
        print("polarbear: there is not enough memory; what was stored is intact", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
