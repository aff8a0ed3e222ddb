"""The program's own look at its state, before it registers anything, and the record that it leaves there.

Nothing but the program is run by every ``jacquard`` and by every plain ``pulumi``. It asks the engine for the state, so
that this holds for all backends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pulumi
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.settings import get_monitor

from jacquard.harness import serving
from jacquard.machine import settings
from stacks.errors import StackError
from stacks.provider_migration import RECORD, PlugIns, refusal, writers
from stacks.validation import Names

_READ = "pulumi:pulumi:readStackResourceOutputs"


class Resource(NamedTuple):
    """A resource of a state."""

    type: str
    name: str
    outputs: Mapping[str, Any]
    """Names only, on two levels, but of the record."""


class PlugInRecord(pulumi.ComponentResource):
    """Which plug-ins applied the stack: no object, a note in its state.

    It never leaves the program, and is protected: so a plain ``pulumi destroy``, which runs no program of ours, is
    refused in its preview, whatever else the stack has.
    """

    def __init__(self, plug_ins: PlugIns) -> None:
        told = {provider: str(one) for provider, one in plug_ins.items()}
        super().__init__(RECORD, "plug-ins", told, pulumi.ResourceOptions(protect=True))
        self.register_outputs(told)


def keep(stack: str) -> Names:
    """Record the plug-ins of this run if they may go on with ``stack``, and return what it has already.

    Raises:
        StackError: others wrote it, and nobody said that these may take over.
    """
    here, recorded = serving(), list(_recorded(stack))
    wrote = writers((resource.type, resource.outputs) for resource in recorded)
    problem = refusal(stack, wrote, here, switch_to=settings.switch_to())
    if problem:
        raise StackError(problem)
    PlugInRecord(here)
    return frozenset((resource.type, resource.name) for resource in recorded)


def _recorded(stack: str) -> Iterator[Resource]:
    """Yield what the state of ``stack`` has."""
    monitor = get_monitor()
    if monitor is None:
        return  # no engine runs the program
    arguments = Struct()
    arguments["stackName"] = stack
    answer: Any = monitor.Invoke(resource_pb2.ResourceInvokeRequest(tok=_READ, args=arguments))
    found = getattr(answer, "return").fields["outputs"].struct_value.fields
    for urn, resource in found.items():
        type_ = resource.struct_value.fields["type"].string_value
        outputs = resource.struct_value.fields["outputs"].struct_value
        names = {name: dict.fromkeys(inner.struct_value.fields) for name, inner in outputs.fields.items()}
        yield Resource(type_, urn.split("::", 3)[-1], MessageToDict(outputs) if type_ == RECORD else names)
