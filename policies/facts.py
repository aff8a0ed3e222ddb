"""Facts that rules evaluate: plain data about an object, provider or tenant, the same with and without the engine."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar

from components.lookups.pools import clusters
from components.lookups.slices import SliceKind, slices
from components.render.manifest import Json
from components.specs.base import Stage
from components.specs.environment import Environment
from components.specs.region.catalog import Channel, GoldenImage
from components.specs.region.policy import Enforcement, FreezeSpec, WaiverSpec
from components.specs.region.versions import Chart, ObservedSpec
from components.specs.struct import Struct, field

if TYPE_CHECKING:
    from components.lookups.monitor_targets import Target
    from components.lookups.observed_components import Observers
    from policies.stack_objects import StackObjects

_Entry = TypeVar("_Entry")
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Unknown:
    """Value that is unknown until apply; it equals only itself."""

    def __reduce__(self) -> str:
        return "UNKNOWN"  # The only instance, also in the process of extensions.

    def __repr__(self) -> str:
        return "a value that is unknown until apply"


UNKNOWN: Final = Unknown()
PROVIDER = "provider"
"""Kind of the facts about Pulumi providers; Kubernetes kinds are never lower-case."""
STACK = "stack"
"""Kind of the facts about the tenants whose slices a stack applies."""
WAIVER = "waiver"
"""Kind of the facts about waivers of the environment."""
RESOURCE = "resource"
"""Kind of the facts about options of Pulumi resources that ignore changes."""
REFERENCE = "reference"
"""Kind of the facts about references to other stacks."""
ANY_KIND = "*"
"""Stands for the kinds of all Kubernetes objects among the kinds of a rule."""
_CLUSTER_API = "cluster.x-k8s.io/"
_MAPPINGS = (dict, Mapping)
"""Types of objects in JSON. The check for dict is much faster than that for Mapping."""
_LEAVES = (str, int, float, type(None))
"""Types of values in JSON that contain no other values."""


class Fact(Struct):
    """Object, provider or tenant to evaluate, as it will be applied."""

    kind: str | Unknown
    title: str
    """Readable name of the object: kind, namespace, name and cluster."""
    body: Json
    """Complete object, or the inputs of a provider. Any value may be UNKNOWN."""
    cluster: str = ""
    """Name of the cluster to which the object is applied; empty for other facts."""
    source: str = ""
    """Resource or slice that creates the object; empty for patches of objects that other controllers create."""

    def at(self, *path: str) -> Any:
        """Return the value at ``path``: None if it is absent, UNKNOWN if the value or one of its parents is unknown."""
        value: Any = self.body
        for step in path:
            if value is UNKNOWN:
                return UNKNOWN
            value = value.get(step) if isinstance(value, _MAPPINGS) else None
        return value

    def of_cluster(self, entries: Mapping[str, tuple[_Entry, ...]]) -> tuple[_Entry, ...]:
        """Return the entries of ``entries`` (by cluster) for this Cluster API Cluster; empty for any other object."""
        is_cluster = str(self.at("apiVersion")).startswith(_CLUSTER_API)
        return entries.get(str(self.at("metadata", "name")), ()) if is_cluster else ()


class Deferred(Mapping[_Key, _Value]):
    """Mapping that is computed when it is first used."""

    def __init__(self, compute: Callable[[], Mapping[_Key, _Value]]) -> None:
        self._compute = compute

    @cached_property
    def _entries(self) -> Mapping[_Key, _Value]:
        return self._compute()

    def __getitem__(self, key: _Key) -> _Value:
        return self._entries[key]

    def __iter__(self) -> Iterator[_Key]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self._entries),)  # For the process of extensions.


class Context(Struct):
    """Data with which rules compare facts. The strict defaults apply to a stack without a readable environment."""

    stack: str
    now: dt.datetime
    """Start time of the command, with a time zone; rules never read the clock."""
    dry_run: bool = False
    """True if nothing is applied, as in a preview."""
    is_strict: bool = False
    """True if new rules are mandatory before the end of their advisory period."""
    stage: Stage = Stage.PRODUCTION
    charts: tuple[Chart, ...] = ()
    """Chart releases in the catalogue."""
    images: tuple[GoldenImage, ...] = ()
    """Image catalogue; empty if the stack belongs to no environment, so that no image is allowed."""
    locked: frozenset[tuple[str, str]] = frozenset()
    """URL and SHA-256 of the images pinned in the lock file; the URL may differ from the URL in the catalogue."""
    channel: Channel | None = None
    levels: Mapping[str, Enforcement] = field(default_factory=dict)
    """Enforcement level of each rule in ``policy.yaml``, by rule name."""
    limits: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Limits that are lower than those of a rule, by names of rule and parameter (``policies/parameters.py``)."""
    waivers: tuple[WaiverSpec, ...] = ()
    registries: tuple[str, ...] = ()
    """Registries from which software may be fetched; any registry if the tuple is empty."""
    freezes: tuple[FreezeSpec, ...] | None = None
    """Periods in which changes to tenants are blocked; None if the data cannot be read."""
    declared: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Host settings in the data beyond identity, by host and field path; empty if unknown."""
    unverified: Mapping[str, str] = field(default_factory=dict)
    """Reason for skipping the verification of the BMC's certificate, by host; other hosts are omitted."""
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Default add-ons that clusters omit, with reason and consequence, by cluster."""
    own_values: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Cluster-specific add-on values, with the reason, by cluster and add-on."""
    closed_ports: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """VM ports that security groups of VPCs block, each with the ingress rule that would open the port, by cluster."""
    turns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Pools on InfiniBand or RoCE with GPU time-slicing, by cluster."""
    overcommitted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Namespace quotas whose sum exceeds a quota of the tenant, by the tenant's first cluster with such quotas."""
    admins: Mapping[str, str] = field(default_factory=dict)
    """Kubernetes name of the group of administrators, by cluster; other clusters are omitted."""
    host_namespaces: Collection[str] = frozenset()
    """Namespaces of the management cluster whose agents use their host."""
    rolling: frozenset[str] = frozenset()
    """Keys of pools with an open rollout, whose rollout groups have different pins."""
    objects: StackObjects | None = None
    """All objects of the stack, for stack-wide rules; None for other rules."""
    targets: tuple[Target, ...] | None = None
    """Services and pods that monitors can select; None in a deployment, which evaluates one object at a time."""
    monitored: frozenset[tuple[str, str]] | None = None
    """Clusters and namespaces with a Service or pod that a monitor selects; None in a deployment."""
    observers: Observers | None = None
    """Alerts and dashboards of all slices; None in a deployment."""
    observed: Mapping[str, ObservedSpec] = field(default_factory=dict)
    """Declared observation of charts and manifest artefacts in the catalogue, by name."""
    scraped: Collection[str] = frozenset()
    """Clusters with an add-on that provides monitoring."""
    subjects: tuple[str | None, ...] = (None,)
    """Tenants whose slices the stack applies; None stands for objects shared by all tenants."""

    @property
    def environment(self) -> str:
        """Return the name of the stack's environment."""
        return self.stack.partition(".")[0]

    @property
    def today(self) -> dt.date:
        """Return the current day in UTC."""
        return self.now.astimezone(dt.UTC).date()

    @classmethod
    def of(
        cls,
        environment: Environment,
        now: dt.datetime,
        stack: str | None = None,
        *,
        dry_run: bool = False,
        is_strict: bool = False,
    ) -> Context:
        """Return the context of ``environment``."""
        stack = stack or environment.name
        return cls(
            stack=stack,
            now=now,
            dry_run=dry_run,
            is_strict=is_strict,
            stage=environment.region.stage,
            charts=environment.versions.charts,
            images=environment.images.images,
            locked=frozenset((pin.url, pin.sha256) for pin in environment.image_pins.intents.values()),
            channel=environment.region.image_channel,
            levels=environment.policy.rules,
            waivers=environment.waivers.waivers,
            registries=environment.policy.registries,
            freezes=environment.policy.freezes,
            declared=_later("declared", environment),
            unverified=_later("unverified", environment),
            left_out=_later("left_out", environment),
            own_values=_later("own_values", environment),
            closed_ports=_later("closed_ports", environment),
            turns=_later("turns", environment),
            overcommitted=_later("overcommitted", environment),
            admins=_admins(environment),
            host_namespaces=_later("host_namespaces", environment),
            rolling=frozenset(environment.image_pins.rollouts),
            scraped=_later("scraped", environment),
            observed=environment.versions.observed,
            subjects=_subjects(environment, stack.partition(".")[2]),
        )


def _later(name: str, environment: Environment) -> Mapping[Any, Any]:
    """Return the facts ``name`` of `policies.environment_facts`, which is imported when they are first used."""
    return Deferred(lambda: getattr(import_module("policies.environment_facts"), name)(environment))


def contains_unknown(value: Any) -> bool:
    """Return whether ``value``, or a value inside it, is unknown until apply."""
    if isinstance(value, _LEAVES):
        return False
    if isinstance(value, _MAPPINGS):
        return any(map(contains_unknown, value.values()))
    if isinstance(value, list | tuple):
        return any(map(contains_unknown, value))
    return value is UNKNOWN


def _admins(environment: Environment) -> dict[str, str]:
    return {
        placed.cluster.name: placed.cluster.oidc.admins
        for placed in clusters(environment)
        if placed.cluster.oidc and placed.cluster.oidc.admins
    }


def _subjects(environment: Environment, part: str) -> tuple[str | None, ...]:
    """Return the tenants of the stack with the suffix ``part``; the stack of a whole environment has no suffix."""
    owners = {placed.cluster.name: placed.tenant.tenant for placed in clusters(environment)}
    subjects: dict[str | None, None] = {}
    for piece in slices(environment):
        if part in {"", piece.name}:
            match piece.kind:
                case SliceKind.TENANT:
                    subjects[piece.subject] = None
                case SliceKind.CLUSTER:
                    subjects[owners[piece.subject]] = None
                case _:
                    subjects[None] = None
    return tuple(subjects)


def object_fact(body: Json, cluster: str, kind: str | Unknown | None = None, *, source: str = "") -> Fact:
    """Return the fact about a Kubernetes object; pass ``kind`` if the body may not contain it."""
    metadata = body.get("metadata")
    known = metadata if isinstance(metadata, Mapping) else {}
    scope = "/".join(str(known[key]) for key in ("namespace", "name") if key in known)
    kind = kind or body.get("kind") or UNKNOWN
    title = f"{'object' if isinstance(kind, Unknown) else kind} {scope or '(name unknown)'} in cluster {cluster}"
    return Fact(kind=kind, title=title, body=body, cluster=cluster, source=source)


def stack_facts(context: Context) -> Iterator[Fact]:
    """Yield a fact for each tenant that an apply of the context's stack affects."""
    for subject in context.subjects:
        subject_title = f"tenant {subject}" if subject else "resources shared by tenants"
        yield Fact(kind=STACK, title=f"{subject_title} in stack {context.stack}", body={"tenant": subject})
