"""Determines the plug-ins that last wrote a stack, and whether other plug-ins may continue the stack.

The program records the plug-ins in a component that it registers first. The record is therefore in the state of any
backend, and exists before any object is applied. In stacks without a record, the recorded objects identify the
plug-ins: the vendor's provider stores ``managedFields``, stand-ins do not, and the first stand-ins did not store
``__initialApiVersion`` either.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from jacquard.harness import PlugIn
from jacquard.machine import settings
from jacquard.machine.kind import Kind

RECORD = "jacquard:components:PlugIns"
"""Type of the component with the record."""
_OBJECT = "kubernetes:"
_FIRST_VERSION, _MANAGERS = "__initialApiVersion", "managedFields"

PlugIns: TypeAlias = Mapping[str, PlugIn]
"""Plug-ins by name of the provider."""
Recorded: TypeAlias = Iterable[tuple[str, Mapping[str, Any]]]
"""Resources of a state: type and outputs of each."""


def writers(resources: Recorded) -> PlugIns:
    """Return the plug-ins that wrote a stack last; empty for a new stack."""
    objects: list[Kind | None] = []
    for type_, outputs in resources:
        if type_ == RECORD:
            plug_ins = {provider: PlugIn.parse(str(text)) for provider, text in outputs.items()}
            return {provider: plug_in for provider, plug_in in plug_ins.items() if plug_in}
        if type_.startswith(_OBJECT) and "metadata" in outputs:  # groups such as Chart have no metadata
            objects.append(_writer(outputs))
    # Objects of the first stand-in versions lack `__initialApiVersion`, and the vendor's provider would replace them.
    # If a stack has such objects, it counts as written by stand-ins.
    vendors = Kind.VENDOR in objects and Kind.STAND_IN not in objects
    return {"kubernetes": PlugIn(kind=Kind.VENDOR if vendors else Kind.STAND_IN)} if objects else {}


def _writer(outputs: Mapping[str, Any]) -> Kind | None:
    """Return the kind of plug-in that wrote an object; None if unknown, such as after a refresh without managers."""
    if _FIRST_VERSION not in outputs:
        return Kind.STAND_IN
    return Kind.VENDOR if _MANAGERS in (outputs.get("metadata") or {}) else None


def others(wrote: PlugIns, serving: PlugIns) -> Kind | None:
    """Return the kind of plug-in that would continue a stack of the other kind; None if the kind does not change."""
    pairs = ((wrote[provider], serving[provider]) for provider in serving if provider in wrote)
    return next((now.kind for before, now in pairs if before.kind is not now.kind), None)


def refusal(stack: str, wrote: PlugIns, serving: PlugIns, *, migrate_to: Kind | None = None) -> str | None:
    """Return the reason why ``stack`` must not be continued, with remedies; None if this is allowed.

    Args:
        stack: name of the stack.
        wrote: plug-ins that wrote the stack last.
        serving: plug-ins that would continue.
        migrate_to: kind of plug-ins that may take over.
    """
    now = others(wrote, serving)
    if now is None or now is migrate_to:
        return None
    before = Kind.STAND_IN if now is Kind.VENDOR else Kind.VENDOR
    ours = "build" if before is Kind.STAND_IN else "vendor"
    environment = stack.partition(".")[0]
    versions = ", ".join(
        f"{provider} {plug_in.version}" for provider, plug_in in sorted(wrote.items()) if plug_in.version
    )
    return (
        f"stack {stack} was last written by {before.display_name}{f' ({versions})' if versions else ''}, but"
        f" {now.display_name} would continue here and may replace unchanged objects; to continue with the former:"
        f" {settings.TOOLCHAIN}={ours} jacquard up {environment} (for plain pulumi: {settings.TOOLCHAIN}={ours}"
        f" jacquard env {environment}); to migrate, after a review: jacquard up {environment} --migrate-providers {now}"
    )
