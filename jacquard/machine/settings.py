"""Settings from environment variables, read in one place to report invalid values before any work starts.

Set-up alone can take a quarter of an hour, which is too late to report a typing error.
"""

import datetime as dt
import math
import os
from enum import StrEnum

from jacquard.machine.errors import SettingError
from jacquard.machine.kind import Kind

TOOLCHAIN = "JACQUARD_TOOLCHAIN"
TOOLCHAINS = ("auto", "vendor", "build")
CLUSTER = "JACQUARD_CLUSTER"
MONITORING = "JACQUARD_MONITORING"
SPEED = "JACQUARD_SPEED"
DEFAULT_SPEED = "4"
"""Speed with which the local region is quick to start and its states remain observable."""
NOW = "JACQUARD_NOW"
MIGRATE_PROVIDERS = "JACQUARD_MIGRATE_PROVIDERS"
DEPRECATED_SWITCH_TO = "JACQUARD_SWITCH_TO"
"""Former name of `MIGRATE_PROVIDERS`."""
PARALLELISM = "JACQUARD_PARALLELISM"
COMMITS = "JACQUARD_COMMITS"
"""Commit of each slice that an operator applies, by its name, as JSON; set by commands for the program."""
METRICS_USER = "JACQUARD_METRICS_USER"
METRICS_PASSWORD = "JACQUARD_METRICS_PASSWORD"  # noqa: S105 - the name of a variable


class Monitoring(StrEnum):
    """Monitoring of a local region."""

    ON = "on"
    OFF = "off"
    UNCHANGED = ""
    """A running region keeps what it has; a new one has none."""


def toolchain() -> str:
    """Return the requested engine: one of `TOOLCHAINS`.

    Raises:
        SettingError: the value is unknown.
    """
    chosen = os.environ.get(TOOLCHAIN) or "auto"
    if chosen in TOOLCHAINS:
        return chosen
    message = f"{TOOLCHAIN}: '{chosen}' is unknown; write {', '.join(TOOLCHAINS[:-1])} or {TOOLCHAINS[-1]}"
    raise SettingError(message)


def cluster() -> str:
    """Return the source of a rehearsal's clusters: ``kwok``, ``kind`` or ``context:NAME``.

    Raises:
        SettingError: the value is unknown, or has no context.
    """
    chosen = os.environ.get(CLUSTER) or "kwok"
    kind, colon, context = chosen.partition(":")
    if chosen in ("kwok", "kind") or (kind == "context" and context):
        return chosen
    if kind == "context" and colon:
        message = f"{CLUSTER}: '{chosen}' has no context; write context:NAME, the current context is never used"
    else:
        message = f"{CLUSTER}: '{chosen}' is unknown; write kwok, kind or context:NAME"
    raise SettingError(message)


def monitoring() -> Monitoring:
    """Return whether a rehearsal gets monitoring.

    Raises:
        SettingError: the value is unknown.
    """
    chosen = os.environ.get(MONITORING, "")
    if chosen in set(Monitoring):
        return Monitoring(chosen)
    message = f"{MONITORING}: '{chosen}' is unknown; write {Monitoring.ON} or {Monitoring.OFF}"
    raise SettingError(message)


def speed() -> float:
    """Return the factor by which simulated hardware and controllers are faster than declared in their files.

    Raises:
        SettingError: the value is not a positive number.
    """
    chosen = os.environ.get(SPEED) or DEFAULT_SPEED
    try:
        factor = float(chosen)
    except ValueError:
        factor = 0.0
    if factor > 0 and math.isfinite(factor):
        return factor
    message = f"{SPEED}: '{chosen}' is not a number above 0; write 1 for the declared durations, 10 for a tenth"
    raise SettingError(message)


def now() -> dt.datetime:
    """Return the start time of the command, with a time zone; freezes, waivers and images are compared with this time.

    The variable sets another time for tests and rehearsals; otherwise this is the only place that reads the clock.

    Raises:
        SettingError: the value is not a time with an offset from UTC.
    """
    chosen = os.environ.get(NOW)
    if not chosen:
        return dt.datetime.now(tz=dt.UTC)
    try:
        moment = dt.datetime.fromisoformat(chosen)
    except ValueError:
        moment = None
    if moment is not None and moment.tzinfo is not None:
        return moment
    message = f"{NOW}: '{chosen}' is not a time with an offset from UTC; write it like 2026-11-21T12:00:00Z"
    raise SettingError(message)


def today() -> dt.date:
    """Return the day of `now` in UTC.

    Raises:
        SettingError: as `now`.
    """
    return now().astimezone(dt.UTC).date()


def migrate_providers() -> Kind | None:
    """Return the kind of provider plug-ins that may take over stacks written by the other kind, or None.

    Raises:
        SettingError: the value is unknown.
    """
    name = DEPRECATED_SWITCH_TO if uses_deprecated_name() else MIGRATE_PROVIDERS
    chosen = os.environ.get(name)
    if not chosen:
        return None
    if chosen in set(Kind):
        return Kind(chosen)
    message = f"{name}: '{chosen}' is unknown; write {' or '.join(Kind)}"
    raise SettingError(message)


def uses_deprecated_name() -> bool:
    """Return whether only the former name of `MIGRATE_PROVIDERS` is set."""
    return bool(os.environ.get(DEPRECATED_SWITCH_TO)) and not os.environ.get(MIGRATE_PROVIDERS)


def parallelism() -> int | None:
    """Return the maximum number of stacks in parallel, None to derive it from this machine.

    Raises:
        SettingError: the value is not a whole number above 0.
    """
    chosen = os.environ.get(PARALLELISM)
    if not chosen:
        return None
    if chosen.isdecimal() and int(chosen) > 0:
        return int(chosen)
    message = f"{PARALLELISM}: '{chosen}' is not a whole number above 0; write the number of stacks to run in parallel"
    raise SettingError(message)


def metrics_login() -> tuple[str, str] | None:
    """Return user and password for queries of a metrics store; None to send none.

    Raises:
        SettingError: only one of them is set.
    """
    user, password = os.environ.get(METRICS_USER), os.environ.get(METRICS_PASSWORD)
    if user and password:
        return user, password
    if not user and not password:
        return None
    message = f"{METRICS_USER}: must be set together with {METRICS_PASSWORD}; set both or none"
    raise SettingError(message)


def problems() -> dict[str, str]:
    """Return the invalid settings, as messages by the name of the variable."""
    messages = {}
    for name, setting in (
        (TOOLCHAIN, toolchain),
        (CLUSTER, cluster),
        (MONITORING, monitoring),
        (SPEED, speed),
        (NOW, now),
        (MIGRATE_PROVIDERS, migrate_providers),
        (PARALLELISM, parallelism),
        (METRICS_USER, metrics_login),
    ):
        try:
            setting()
        except SettingError as error:
            messages[name] = str(error)
    return messages


def check() -> None:
    """Check that all settings are valid.

    Raises:
        SettingError: some are invalid; the text has one line for each.
    """
    messages = problems()
    if messages:
        raise SettingError("\n".join(messages.values()))
