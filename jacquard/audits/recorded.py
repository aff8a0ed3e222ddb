"""Facts about the resources in the recorded state of a stack, the same as the engine passes to the policies.

Encrypted values are unknown to a policy: an audit needs no key of the state, and no policy judges a secret.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import analyzer_pb2

from policies.facts import Fact
from policies.pack.wire import facts_of


def recorded_facts(resources: Iterable[Mapping[str, Any]]) -> Iterator[Fact]:
    """Yield the facts about the resources that a stack manages, in the form of ``pulumi stack export``.

    Resources that wait for their deletion, and objects that a stack only reads, are omitted.
    """
    for resource in resources:
        if resource.get("custom") and not resource.get("delete") and not resource.get("external"):
            yield from facts_of(_resource(resource))


def _resource(recorded: Mapping[str, Any]) -> analyzer_pb2.AnalyzerResource:
    properties = Struct()
    properties.update(dict(recorded.get("inputs") or {}))
    return analyzer_pb2.AnalyzerResource(
        type=recorded["type"],
        name=str(recorded["urn"]).split("::", 3)[-1],
        urn=recorded["urn"],
        properties=properties,
        options=analyzer_pb2.AnalyzerResourceOptions(ignoreChanges=recorded.get("ignoreChanges") or ()),
        provider=analyzer_pb2.AnalyzerProviderResource(name=_provider(recorded)),
    )


def _provider(recorded: Mapping[str, Any]) -> str:
    """Return the name of the provider of a resource, from ``<URN>::<id>``; empty for a default provider."""
    parts = str(recorded.get("provider") or "").rsplit("::", 2)
    return parts[-2] if len(parts) > 1 and not parts[-2].startswith("default") else ""
