"""Monitoring of a faster local region: intervals and holds are shorter, windows of queries are not."""

from __future__ import annotations

import pytest

from jacquard.lab.rehearsal.monitoring.durations import faster, shorter


def test_windows_of_queries_stay() -> None:
    group = {"interval": "1m", "rules": [{"alert": "A", "expr": "rate(a[5m])", "for": "10m"}]}

    assert faster(group, 8) == {
        "interval": "7500ms",
        "rules": [{"alert": "A", "expr": "rate(a[5m])", "for": "75000ms"}],
    }
    with pytest.raises(ValueError, match="'1h30m' is not a duration with one unit"):
        shorter("1h30m", 2)
