"""Reads the state of the stack before the program registers resources, and records the plug-ins in the state.

The program does this because only the program runs in all ``jacquard`` and plain ``pulumi`` commands. The state is read
through the engine, so this works with all backends.
"""

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
    """Resource in a state."""

    type: str
    name: str
    outputs: Mapping[str, Any]
    """Names of outputs on two levels, without values; only the record of plug-ins has values."""


class PlugInRecord(pulumi.ComponentResource):
    """Record of the plug-ins that applied the stack: only an entry in the state, without an object.

    The record is always registered and protected. A plain ``pulumi destroy`` does not run the program, and is therefore
    always rejected in its preview.
    """

    def __init__(self, plug_ins: PlugIns) -> None:
        versions = {provider: str(plug_in) for provider, plug_in in plug_ins.items()}
        super().__init__(RECORD, "plug-ins", versions, pulumi.ResourceOptions(protect=True))
        self.register_outputs(versions)


def keep(stack: str) -> Names:
    """Record the plug-ins of this run if they may continue ``stack``; return the recorded objects of the stack.

    Raises:
        StackError: other plug-ins wrote the stack, and no provider migration was requested.
    """
    here, recorded = serving(), list(_recorded(stack))
    wrote = writers((resource.type, resource.outputs) for resource in recorded)
    if settings.uses_deprecated_name():
        pulumi.warn(f"{settings.DEPRECATED_SWITCH_TO} is deprecated; use {settings.MIGRATE_PROVIDERS}")
    problem = refusal(stack, wrote, here, migrate_to=settings.migrate_providers())
    if problem:
        raise StackError(problem)
    PlugInRecord(here)
    return frozenset((resource.type, resource.name) for resource in recorded)


def _recorded(stack: str) -> Iterator[Resource]:
    """Yield the resources in the state of ``stack``."""
    monitor = get_monitor()
    if monitor is None:
        return  # The program runs without an engine.
    arguments = Struct()
    arguments["stackName"] = stack
    answer: Any = monitor.Invoke(resource_pb2.ResourceInvokeRequest(tok=_READ, args=arguments))
    resources = getattr(answer, "return").fields["outputs"].struct_value.fields
    for urn, resource in resources.items():
        type_ = resource.struct_value.fields["type"].string_value
        outputs = resource.struct_value.fields["outputs"].struct_value
        names = {name: dict.fromkeys(inner.struct_value.fields) for name, inner in outputs.fields.items()}
        yield Resource(type_, urn.split("::", 3)[-1], MessageToDict(outputs) if type_ == RECORD else names)
