"""The settings that a user makes by environment variable: read in one place, so that a wrong one is told at once.

Set-up alone can take a quarter of an hour; nobody wants to hear of a slip of the pen after that.
"""

from __future__ import annotations

import datetime as dt
import math
import os

from jacquard.machine.errors import SettingError
from jacquard.machine.kind import Kind

TOOLCHAIN = "JACQUARD_TOOLCHAIN"
TOOLCHAINS = ("auto", "vendor", "build")
CLUSTER = "JACQUARD_CLUSTER"
SPEED = "JACQUARD_SPEED"
NOW = "JACQUARD_NOW"
SWITCH_TO = "JACQUARD_SWITCH_TO"
PARALLELISM = "JACQUARD_PARALLELISM"


def toolchain() -> str:
    """Return which engine is wanted: one of `TOOLCHAINS`.

    Raises:
        SettingError: it is none of them.
    """
    chosen = os.environ.get(TOOLCHAIN) or "auto"
    if chosen in TOOLCHAINS:
        return chosen
    message = f"{TOOLCHAIN}: '{chosen}' is unknown; write {', '.join(TOOLCHAINS[:-1])} or {TOOLCHAINS[-1]}"
    raise SettingError(message)


def cluster() -> str:
    """Return where the clusters of a rehearsal come from: ``kwok``, ``kind`` or ``context:NAME``.

    Raises:
        SettingError: it is none of these, or names no context.
    """
    chosen = os.environ.get(CLUSTER) or "kwok"
    kind, colon, context = chosen.partition(":")
    if chosen in ("kwok", "kind") or (kind == "context" and context):
        return chosen
    if kind == "context" and colon:
        message = f"{CLUSTER}: '{chosen}' names no context; write context:NAME, the current one is never taken"
    else:
        message = f"{CLUSTER}: '{chosen}' is unknown; write kwok, kind or context:NAME"
    raise SettingError(message)


def speed() -> float:
    """Return the factor by which simulated things are faster than their files say.

    Raises:
        SettingError: it is no positive number.
    """
    chosen = os.environ.get(SPEED) or "1"
    try:
        factor = float(chosen)
    except ValueError:
        factor = 0.0
    if factor > 0 and math.isfinite(factor):
        return factor
    message = f"{SPEED}: '{chosen}' is not a number above 0; write 1 for the usual speed, 10 for ten times as fast"
    raise SettingError(message)


def now() -> dt.datetime:
    """Return when the command began, with a time zone: what freezes, waivers and images are compared with.

    A test or a rehearsal of a later day says when that is; otherwise this is the one place that reads the clock.

    Raises:
        SettingError: it is no moment with its offset from UTC.
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
    message = f"{NOW}: '{chosen}' is no moment with its offset from UTC; write it like 2026-11-21T12:00:00Z"
    raise SettingError(message)


def switch_to() -> Kind | None:
    """Return whose plug-ins may take over a stack that others wrote, None if nobody's may.

    Raises:
        SettingError: it is none of them.
    """
    chosen = os.environ.get(SWITCH_TO)
    if not chosen:
        return None
    if chosen in set(Kind):
        return Kind(chosen)
    message = f"{SWITCH_TO}: '{chosen}' is unknown; write {' or '.join(Kind)}"
    raise SettingError(message)


def parallelism() -> int | None:
    """Return how many stacks may be worked on at once, None if this machine decides.

    Raises:
        SettingError: it is no whole number above 0.
    """
    chosen = os.environ.get(PARALLELISM)
    if not chosen:
        return None
    if chosen.isdecimal() and int(chosen) > 0:
        return int(chosen)
    message = f"{PARALLELISM}: '{chosen}' is no whole number above 0; write how many stacks may run at once"
    raise SettingError(message)


def problems() -> dict[str, str]:
    """Return what is wrong with the settings, by the name of the variable."""
    found = {}
    for name, setting in (
        (TOOLCHAIN, toolchain),
        (CLUSTER, cluster),
        (SPEED, speed),
        (NOW, now),
        (SWITCH_TO, switch_to),
        (PARALLELISM, parallelism),
    ):
        try:
            setting()
        except SettingError as error:
            found[name] = str(error)
    return found


def check() -> None:
    """Pass when all settings can be used.

    Raises:
        SettingError: some cannot; all of them are told, a line each.
    """
    wrong = problems()
    if wrong:
        raise SettingError("\n".join(wrong.values()))
