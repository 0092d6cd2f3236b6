"""The command line: one thin, typed function for each command, on top of `api`.

Uses `api`, `errors`, `records` and `wording`; the only room that prints and exits.
"""

# A module registers its commands when it is imported. The order of these lines is that of --help.
# ruff: noqa: F401, I001
from polarbear.cli import race
from polarbear.cli import run_and_check
from polarbear.cli import infer
from polarbear.cli import select
from polarbear.cli import report
from polarbear.cli import compare
from polarbear.cli import gate
from polarbear.cli import history
from polarbear.cli import design
from polarbear.cli import contents
from polarbear.cli import setup
from polarbear.cli import import_and_export
from polarbear.cli import stores
from polarbear.cli import stan_setup
from polarbear.cli.application import app as app
from polarbear.cli.application import main as main
