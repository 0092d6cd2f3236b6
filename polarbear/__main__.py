"""`python -m polarbear` is `polarbear`."""

from polarbear.cli import main

if __name__ == "__main__":
    main()
