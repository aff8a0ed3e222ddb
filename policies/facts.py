"""What rules judge: plain data about one object or provider, the same whether it comes from the engine or the plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from components.render.manifest import Json, Manifest
from components.specs.catalog import Channel, GoldenImage
from components.specs.environment import Environment


class Unknown:
    """A value that is not known before apply; equal to nothing but itself."""

    def __repr__(self) -> str:
        return "a value that is unknown until apply"


UNKNOWN: Final = Unknown()
PROVIDER = "provider"
"""Kind of the facts about Pulumi providers; no Kubernetes kind is written in lower case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One object as it is going to be applied."""

    kind: str | Unknown
    title: str
    """What a person calls it: kind, namespace, name and cluster."""
    body: Json
    """The whole object, or a provider's inputs. Any value may be UNKNOWN."""

    def at(self, *path: str) -> Any:
        """Return the value at ``path``, None when there is none, UNKNOWN when it or what holds it is unknown."""
        value: Any = self.body
        for step in path:
            if value is UNKNOWN:
                return UNKNOWN
            value = value.get(step) if isinstance(value, Mapping) else None
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What rules compare facts with."""

    stack: str
    images: tuple[GoldenImage, ...] = ()
    """The catalogue; empty when the stack belongs to no environment, which leaves nothing allowed."""
    channel: Channel | None = None

    @property
    def environment(self) -> str:
        """Return the environment that the stack is named after."""
        return self.stack.partition(".")[0]

    @classmethod
    def of(cls, environment: Environment, stack: str | None = None) -> Context:
        """Return what is true for ``environment``."""
        return cls(
            stack=stack or environment.name, images=environment.images.images, channel=environment.region.image_channel
        )


def object_fact(body: Json, cluster: str, kind: str | Unknown | None = None) -> Fact:
    """Return the fact about a Kubernetes object; ``kind`` is said apart where the body may not know it."""
    metadata = body.get("metadata")
    known = metadata if isinstance(metadata, Mapping) else {}
    scope = "/".join(str(known[key]) for key in ("namespace", "name") if key in known)
    kind = kind or body.get("kind") or UNKNOWN
    title = f"{'object' if isinstance(kind, Unknown) else kind} {scope or '(name unknown)'} in cluster {cluster}"
    return Fact(kind=kind, title=title, body=body)


def manifest_facts(manifests: Iterable[Manifest]) -> Iterator[Fact]:
    """Yield the facts about rendered objects."""
    for manifest in manifests:
        yield object_fact(manifest.body, manifest.cluster)
