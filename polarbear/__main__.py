"""`python -m polarbear` is `polarbear`. What is loaded takes a moment, which Ctrl-C may end."""

import gc
import sys

INTERRUPTED = 130
# Objects made before Python looks for garbage among them: loading makes hundreds of thousands, all
# of which stay, and looking through them again and again takes a tenth of a short command.
GARBAGE = 50_000


def main() -> None:
    """Load the command line and run a command; an interrupt at any moment is a line, no more."""
    gc.set_threshold(GARBAGE)
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
