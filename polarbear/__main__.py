"""`python -m polarbear` is `polarbear`. What is loaded takes a moment, which Ctrl-C may end."""

import gc
import sys

from polarbear.settings import environment, foreign

INTERRUPTED = 130
# Objects made before Python looks for garbage among them: loading leaves more than a hundred
# thousand, all of which stay, and looking through them again and again takes a tenth of a short
# command.
GARBAGE = 200_000


def main() -> None:
    """Load the command line and run a command; an interrupt at any moment is a line, no more."""
    gc.set_threshold(GARBAGE)
    environment.set_for_commands()
    try:
        from polarbear.cli import main as run

        run()
    except KeyboardInterrupt:
        print("polarbear: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except MemoryError:
        print("polarbear: there is not enough memory; what was stored is intact", file=sys.stderr)
        sys.exit(1)
    finally:
        if not foreign.is_here():  # others may leave it to Python to write and close their files
            gc.freeze()  # or Python would look through all of that several times more as it ends


if __name__ == "__main__":
    main()
