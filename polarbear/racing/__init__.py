"""Decisions of a race: rules, state, and a pure step from probabilities to the next state.

Uses `settings` and `inference`'s relations; nothing here runs, draws or writes.
"""

from polarbear.racing.choice_questions import ChoiceQuestion as ChoiceQuestion
from polarbear.racing.choice_questions import OpenChoice as OpenChoice
from polarbear.racing.choice_questions import OutForPurpose as OutForPurpose
from polarbear.racing.coverage import RoundCoverage as RoundCoverage
from polarbear.racing.coverage import catching_up as catching_up
from polarbear.racing.decide import MAX_UNTRUSTED_ROUNDS as MAX_UNTRUSTED_ROUNDS
from polarbear.racing.decide import admit as admit
from polarbear.racing.decide import needs_more_draws as needs_more_draws
from polarbear.racing.decide import settled_codes as settled_codes
from polarbear.racing.decide import step as step
from polarbear.racing.open_questions import Budgets as Budgets
from polarbear.racing.open_questions import OpenQuestion as OpenQuestion
from polarbear.racing.open_questions import Topic as Topic
from polarbear.racing.open_questions import budgets as budgets
from polarbear.racing.open_questions import horizons as horizons
from polarbear.racing.open_questions import open_questions as open_questions
from polarbear.racing.rules import Rules as Rules
from polarbear.racing.state import ABOVE as ABOVE
from polarbear.racing.state import ALIKE as ALIKE
from polarbear.racing.state import BELOW as BELOW
from polarbear.racing.state import CROSSING as CROSSING
from polarbear.racing.state import LETTERS as LETTERS
from polarbear.racing.state import OPEN as OPEN
from polarbear.racing.state import OUT as OUT
from polarbear.racing.state import Decisions as Decisions
from polarbear.racing.state import Elimination as Elimination
from polarbear.racing.state import RaceForecast as RaceForecast
from polarbear.racing.state import RoundRecord as RoundRecord
from polarbear.racing.state import State as State
from polarbear.racing.state import Threat as Threat
from polarbear.racing.state import start as start
from polarbear.racing.verdicts import Verdict as Verdict
from polarbear.racing.verdicts import VerdictKind as VerdictKind
from polarbear.racing.verdicts import is_shown_member as is_shown_member
from polarbear.racing.verdicts import verdict as verdict
from polarbear.racing.verdicts import verdict_on as verdict_on
