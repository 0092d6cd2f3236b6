"""Presets: which member of a set to use up to which budget."""

import numpy as np

from polarbear.selection.presets import SetFacts, preset_spans


def facts(win_rates: np.ndarray) -> SetFacts:
    """Two members; those of the first are given, [time]."""
    values = np.stack([win_rates, 1 - win_rates], axis=1)[np.newaxis]
    times = 10.0 ** np.arange(len(win_rates))
    return SetFacts(("a", "b"), times, (values[0] > 0.5).astype(float), values)


def test_presets_are_as_few_as_clear_win_rates_need():
    spans = preset_spans(facts(np.array([0.6, 0.49, 0.52, 0.46, 0.3, 0.2])), epsilon=0.05)
    assert [(span.member, span.first, span.last) for span in spans] == [(0, 0, 3), (1, 4, 5)]
    assert len(preset_spans(facts(np.array([0.9, 0.1, 0.9])), epsilon=0.05)) == 3
    assert len(preset_spans(facts(np.array([0.54, 0.46])), epsilon=0.05)) == 1


def test_the_member_that_leads_least_is_missed_least():
    values = np.zeros((1, 2, 3))
    values[0, :, 0] = [0.7, 0.3]
    values[0, :, 1] = [0.3, 0.6]
    values[0, :, 2] = [0.3, 0.4]
    set_facts = SetFacts(("a", "b", "c"), np.array([1.0, 2.0]), values[0], values)
    np.testing.assert_allclose(set_facts.missed(), [0.1, 0.05, 0.0])
    assert set_facts.least_missed(2) == ["c", "b"]
