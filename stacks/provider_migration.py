"""Which plug-ins wrote a stack last, and whether others may go on with it.

The program records them as a component of its own, the first thing that it registers: so the record is in the state,
whatever backend keeps it, and is there before anything is applied. Stacks that were made before that tell by what their
objects look like: the vendor's provider keeps ``managedFields``, stand-ins never did, and at first they kept no
``__initialApiVersion`` either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from jacquard.harness import PlugIn
from jacquard.machine import settings
from jacquard.machine.kind import Kind

RECORD = "jacquard:components:PlugIns"
"""Type of the component that tells."""
_OBJECT = "kubernetes:"
_FIRST_VERSION, _MANAGERS = "__initialApiVersion", "managedFields"

PlugIns: TypeAlias = Mapping[str, PlugIn]
"""Plug-ins by the name of their provider."""
Recorded: TypeAlias = Iterable[tuple[str, Mapping[str, Any]]]
"""Resources of a state: their types and outputs."""


def writers(resources: Recorded) -> PlugIns:
    """Return which plug-ins wrote a stack last; none for one that nobody wrote."""
    objects: list[Kind | None] = []
    for type_, outputs in resources:
        if type_ == RECORD:
            found = {provider: PlugIn.parse(str(text)) for provider, text in outputs.items()}
            return {provider: one for provider, one in found.items() if one}
        if type_.startswith(_OBJECT) and "metadata" in outputs:  # without it a ConfigFile, a Chart: it groups objects
            objects.append(_writer(outputs))
    # Where both wrote, what stand-ins made at first is what the vendor's provider would replace.
    vendors = Kind.VENDOR in objects and Kind.STAND_IN not in objects
    return {"kubernetes": PlugIn(kind=Kind.VENDOR if vendors else Kind.STAND_IN)} if objects else {}


def _writer(outputs: Mapping[str, Any]) -> Kind | None:
    """Return who wrote an object; None if it may be either, as one without managers, which a refresh completed."""
    if _FIRST_VERSION not in outputs:
        return Kind.STAND_IN
    return Kind.VENDOR if _MANAGERS in (outputs.get("metadata") or {}) else None


def others(wrote: PlugIns, serving: PlugIns) -> Kind | None:
    """Return which kind would go on where the other kind wrote; None if nothing changes hands."""
    pairs = ((wrote[provider], serving[provider]) for provider in serving if provider in wrote)
    return next((now.kind for before, now in pairs if before.kind is not now.kind), None)


def refusal(stack: str, wrote: PlugIns, serving: PlugIns, *, switch_to: Kind | None = None) -> str | None:
    """Return why ``stack`` is not gone on with, and what to do; None if it may be.

    Args:
        stack: its name.
        wrote: which plug-ins wrote it last.
        serving: which would go on.
        switch_to: the kind that somebody said may take over.
    """
    now = others(wrote, serving)
    if now is None or now is switch_to:
        return None
    before = Kind.STAND_IN if now is Kind.VENDOR else Kind.VENDOR
    ours = "build" if before is Kind.STAND_IN else "vendor"
    environment = stack.partition(".")[0]
    told = ", ".join(f"{provider} {one.version}" for provider, one in sorted(wrote.items()) if one.version)
    return (
        f"stack {stack} was last written by {before.words}{f' ({told})' if told else ''}, and here {now.words} would go"
        f" on, which may replace what nobody changed; go on with what wrote it: {settings.TOOLCHAIN}={ours} jacquard up"
        f" {environment} (for plain pulumi: {settings.TOOLCHAIN}={ours} jacquard env {environment}); or hand it over,"
        f" after a look: jacquard up {environment} --switch-to {now}"
    )
