"""What rules judge: plain data about one object, provider or tenant, the same from the engine and from the plan."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from components.intents.time_slicing import turns_on_fabrics
from components.lookups.bmcs import unverified_bmcs
from components.lookups.capabilities import left_out
from components.lookups.closed_ports import closed_ports
from components.lookups.overcommitted import overcommitted
from components.lookups.overridden_values import own_values
from components.lookups.pools import clusters
from components.lookups.slices import SliceKind, slices
from components.render.hosts.bare_metal_hosts import root_device_hints
from components.render.manifest import Json
from components.specs.base import Stage
from components.specs.environment import Environment
from components.specs.region.catalog import Channel, GoldenImage
from components.specs.region.policy import Enforcement, FreezeSpec, WaiverSpec
from components.specs.region.versions import Chart

_Told = TypeVar("_Told")


class Unknown:
    """A value that is not known before apply; equal to nothing but itself."""

    def __repr__(self) -> str:
        return "a value that is unknown until apply"


UNKNOWN: Final = Unknown()
PROVIDER = "provider"
"""Kind of the facts about Pulumi providers; no Kubernetes kind is written in lower case."""
STACK = "stack"
"""Kind of the facts about whose slices a stack applies."""
_CLUSTER_API = "cluster.x-k8s.io/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One object as it is going to be applied."""

    kind: str | Unknown
    title: str
    """What a person calls the object: kind, namespace, name and cluster."""
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

    def of_cluster(self, told: Mapping[str, tuple[_Told, ...]]) -> tuple[_Told, ...]:
        """Return what ``told`` says, by cluster, of the Cluster of Cluster API that this is; nothing if it is none."""
        known = str(self.at("apiVersion")).startswith(_CLUSTER_API)
        return told.get(str(self.at("metadata", "name")), ()) if known else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What rules compare facts with; the defaults are those of a stack of no readable environment, the strictest."""

    stack: str
    now: dt.datetime
    """Moment at which the command began, with a time zone; rules never ask a clock."""
    dry_run: bool = False
    """Whether nothing is applied, as in a preview."""
    stage: Stage = Stage.PRODUCTION
    charts: tuple[Chart, ...] = ()
    """Releases of charts in the catalogue."""
    images: tuple[GoldenImage, ...] = ()
    """Catalogue of images; empty when the stack belongs to no environment, which leaves nothing allowed."""
    locked: frozenset[tuple[str, str]] = frozenset()
    """URL and SHA-256 of the images that the lock file pins, which may be another mirror's than the catalogue's."""
    channel: Channel | None = None
    levels: Mapping[str, Enforcement] = field(default_factory=dict)
    """How strict each rule is that ``policy.yaml`` names, by rule."""
    waivers: tuple[WaiverSpec, ...] = ()
    freezes: tuple[FreezeSpec, ...] | None = None
    """Times in which nothing of tenants may change; None when they cannot be read, so that nobody knows."""
    declared: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What the data say of hosts beyond who they are, by host and path in its object; nothing where nobody knows."""
    unverified: Mapping[str, str] = field(default_factory=dict)
    """Why the BMC of a host is believed without a certificate, by host; nothing where it is not."""
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Default add-ons that clusters go without, with reason and consequence, by cluster."""
    own_values: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Values of add-ons that clusters have for themselves, with the reason, by cluster and add-on."""
    closed_ports: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """Ports of VMs that their VPC's security group keeps closed, each with the rule that opens it, by cluster."""
    turns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Pools on InfiniBand or RoCE whose GPUs several pods have in turns, by cluster."""
    overcommitted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What namespaces may take together beyond their tenant's quota, by the first cluster that has such."""
    subjects: tuple[str | None, ...] = (None,)
    """Tenants whose slices the stack applies, with None for what all tenants share."""

    @property
    def environment(self) -> str:
        """Return the environment that the stack is named after."""
        return self.stack.partition(".")[0]

    @property
    def today(self) -> dt.date:
        """Return the day in UTC."""
        return self.now.astimezone(dt.UTC).date()

    @classmethod
    def of(
        cls, environment: Environment, now: dt.datetime, stack: str | None = None, *, dry_run: bool = False
    ) -> Context:
        """Return what is true for ``environment``."""
        stack = stack or environment.name
        return cls(
            stack=stack,
            now=now,
            dry_run=dry_run,
            stage=environment.region.stage,
            charts=environment.versions.charts,
            images=environment.images.images,
            locked=frozenset((one.url, one.sha256) for one in environment.image_pins.intents.values()),
            channel=environment.region.image_channel,
            levels=environment.policy.rules,
            waivers=environment.waivers.waivers,
            freezes=environment.policy.freezes,
            declared=_declared(environment),
            unverified=unverified_bmcs(environment),
            left_out=left_out(environment),
            own_values=own_values(environment),
            closed_ports=closed_ports(environment),
            turns=turns_on_fabrics(environment),
            overcommitted=overcommitted(environment),
            subjects=_subjects(environment, stack.partition(".")[2]),
        )


def _declared(environment: Environment) -> dict[str, dict[str, Any]]:
    kinds, away = environment.instance_types.by_name, unverified_bmcs(environment)
    disks = {name: root_device_hints(kind.root_device) for name, kind in kinds.items() if kind.root_device}
    return {
        host.host: {
            **({"spec.rootDeviceHints": disks[host.instance_type]} if host.instance_type in disks else {}),
            **({"spec.bmc.disableCertificateVerification": True} if host.host in away else {}),
        }
        for host in environment.hosts
    }


def _subjects(environment: Environment, part: str) -> tuple[str | None, ...]:
    """Return whom the stack is about that ends with ``part``; the stack of a whole environment ends with nothing."""
    owners = {placed.cluster.name: placed.tenant.tenant for placed in clusters(environment)}
    found: dict[str | None, None] = {}
    for piece in slices(environment):
        if part in {"", piece.name}:
            match piece.kind:
                case SliceKind.TENANT:
                    found[piece.subject] = None
                case SliceKind.CLUSTER:
                    found[owners[piece.subject]] = None
                case _:
                    found[None] = None
    return tuple(found)


def object_fact(body: Json, cluster: str, kind: str | Unknown | None = None) -> Fact:
    """Return the fact about a Kubernetes object; ``kind`` is said apart where the body may not know it."""
    metadata = body.get("metadata")
    known = metadata if isinstance(metadata, Mapping) else {}
    scope = "/".join(str(known[key]) for key in ("namespace", "name") if key in known)
    kind = kind or body.get("kind") or UNKNOWN
    title = f"{'object' if isinstance(kind, Unknown) else kind} {scope or '(name unknown)'} in cluster {cluster}"
    return Fact(kind=kind, title=title, body=body)


def stack_facts(context: Context) -> Iterator[Fact]:
    """Yield the facts about whom an apply of the stack of ``context`` would touch."""
    for subject in context.subjects:
        whose = f"tenant {subject}" if subject else "what tenants share"
        yield Fact(kind=STACK, title=f"{whose} in stack {context.stack}", body={"tenant": subject})
