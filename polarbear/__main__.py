"""Entry point of `polarbear` and `python -m polarbear`."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Import and run the command line, so that Ctrl-C during the import is one line, too."""
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
