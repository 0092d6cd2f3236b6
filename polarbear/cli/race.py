"""`polarbear race`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from click import option

from polarbear import api
from polarbear.cli import command_options as common
from polarbear.cli import output
from polarbear.cli.command_options import flag, several
from polarbear.cli.output import Screen
from polarbear.wording import P_BEST

if TYPE_CHECKING:
    from polarbear.api.experiments import Raced

AT_LIMIT = 3  # exit code of a race that stopped with pairs unresolved


@common.command
@common.config_file
@common.store_option
@several("--add", "Enter only this new algorithm of CONFIG; by default all new ones enter.")
@flag("--redecide", "If CONFIG has changed: decide again from the stored runs.")
@common.rerun
@common.keep
@flag("--fresh", "Begin another race in the store, using its runs.")
@option("--for", "preference", help="End when the choice for this preference is good enough.")
@option("--regret", default=0.01, help="With --for: stop below this expected regret.")
@common.path("--page", "FILE", "Write the report's page after each round; an open page follows.")
@flag("--no-check", "Skip the short trial before a first race.")
@flag("--no-early", "Make no speculative runs.")
@common.execution
@common.retry_failed
@common.mix_hosts
@common.json
@common.verbose
def race(no_check: bool, no_early: bool, json: bool, verbose: bool, **options: Any) -> None:
    """Race algorithms until the anytime Pareto set is settled.

    CONFIG is a configuration in YAML; `polarbear init` writes one.
    A race continues where it stopped; algorithms that are new in CONFIG enter on stored instances.
    If anything else has changed, the changes and the cost of --redecide are printed.
    Exit code 1: an error that you can fix, for example an algorithm that fails too often.
    Exit code 3: a limit was reached with pairs unresolved; the result is valid and printed.
    """
    message = "the same command continues from the last round; finished runs are stored"
    check, early = False if no_check else None, 0 if no_early else None
    with output.interruptible(message), output.announcing_compilation():
        done = api.experiments.race(
            **options, check=check, early=early, listener=Screen(verbose)
        ).result
    output.result(done, json, lambda raced: _show_raced(raced, verbose))
    if done.at_limit:
        sys.exit(AT_LIMIT)


def _show_raced(done: Raced, verbose: bool) -> None:
    words, facts = api.standings_words, done.standings
    after = words.failure_lines(done.failures)
    if done.reached is not None:
        now = done.reached
        after.append(
            f"for '{now.preference}': {now.choice}, {P_BEST} = {now.p2bb:.2f}, "
            f"expected regret {now.expected_regret:.2g}",
        )
    if done.extra_runs and verbose:
        after.append(words.speculative_words(done.extra_runs))
    after.append(f"Stopped because {done.stopped_because}; store {facts.store}.")
    after += words.next_commands(facts)
    output.show(*words.standings_lines(facts, output.columns(), verbose, after))
