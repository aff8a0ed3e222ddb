"""Settings from environment variables: their meaning, and the messages for invalid values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import pytest

from jacquard.cli.errors import ExitCode
from jacquard.lab.toolchain import command
from jacquard.machine import settings
from jacquard.machine.errors import SettingError

TOOLCHAIN = "JACQUARD_TOOLCHAIN: 'banana' is unknown; write auto, vendor or build"
CLUSTER = "JACQUARD_CLUSTER: 'banana' is unknown; write kwok, kind or context:NAME"
SPEED = "JACQUARD_SPEED: 'banana' is not a number above 0; write 1 for the declared durations, 10 for a tenth"
NOW = "JACQUARD_NOW: 'banana' is not a time with an offset from UTC; write it like 2026-11-21T12:00:00Z"
METRICS = "JACQUARD_METRICS_USER: must be set together with JACQUARD_METRICS_PASSWORD; set both or none"

pytestmark = pytest.mark.usefixtures("cache")


@pytest.mark.parametrize(
    ("read", "name", "value", "expected"),
    [
        (settings.toolchain, settings.TOOLCHAIN, "", "auto"),
        (settings.toolchain, settings.TOOLCHAIN, "build", "build"),
        (settings.cluster, settings.CLUSTER, "", "kwok"),
        (settings.cluster, settings.CLUSTER, "kind", "kind"),
        (settings.cluster, settings.CLUSTER, "context:staging", "context:staging"),
        (settings.monitoring, settings.MONITORING, "", settings.Monitoring.UNCHANGED),
        (settings.monitoring, settings.MONITORING, "on", settings.Monitoring.ON),
        (settings.monitoring, settings.MONITORING, "off", settings.Monitoring.OFF),
        (settings.speed, settings.SPEED, "", 4.0),
        (settings.speed, settings.SPEED, "2.5", 2.5),
        (settings.metrics_login, settings.METRICS_USER, "", None),
        (settings.now, settings.NOW, "2026-12-24T12:00:00Z", dt.datetime(2026, 12, 24, 12, tzinfo=dt.UTC)),
    ],
)
def test_a_setting_is_used_and_an_empty_one_is_the_default(
    read: Callable[[], object], name: str, value: str, expected: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert read() == expected
    settings.check()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (settings.TOOLCHAIN, "banana", TOOLCHAIN),
        (settings.CLUSTER, "banana", CLUSTER),
        (settings.CLUSTER, "context", "JACQUARD_CLUSTER: 'context' is unknown; write kwok, kind or context:NAME"),
        (
            settings.CLUSTER,
            "context:",
            "JACQUARD_CLUSTER: 'context:' has no context; write context:NAME, the current context is never used",
        ),
        (settings.MONITORING, "yes", "JACQUARD_MONITORING: 'yes' is unknown; write on or off"),
        *(
            (settings.NOW, value, NOW.replace("banana", value))
            for value in ("banana", "2026-12-24", "2026-12-24T12:00")
        ),
        (settings.METRICS_USER, "operator", METRICS),
        (settings.METRICS_PASSWORD, "canary-51b7", METRICS),
        *((settings.SPEED, value, SPEED.replace("banana", value)) for value in ("banana", "0", "-1", "nan", "inf")),
    ],
)
def test_a_value_that_means_nothing_is_refused(
    name: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingError) as caught:
        settings.check()
    assert str(caught.value) == message


def test_without_a_setting_the_system_clock_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(settings.NOW, raising=False)
    before = dt.datetime.now(tz=dt.UTC)
    assert before <= settings.now() <= dt.datetime.now(tz=dt.UTC)


def test_the_setup_reports_all_invalid_settings_before_any_action(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tree: object
) -> None:
    del tree
    for name in (settings.TOOLCHAIN, settings.CLUSTER, settings.SPEED):
        monkeypatch.setenv(name, "banana")

    assert command.run([]) == ExitCode.BAD_DATA
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", f"{TOOLCHAIN}\n{CLUSTER}\n{SPEED}\n")
