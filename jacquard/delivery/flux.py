"""Kustomizations of Flux that apply the parts of a layout in order.

Sources: fluxcd/kustomize-controller v1.9.4, docs/spec/v1/kustomizations.md (``dependsOn``, ``prune``,
``deletionPolicy``, ``healthChecks``, ``healthCheckExprs``, ``ignore``, ``kubeConfig``) and
internal/controller/kustomization_controller.go (``checkDependencies``, ``prune``).
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from components.render.add_ons.flux import NAMESPACE
from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.render.region.operators import inside
from components.specs.reading.problems import shown
from jacquard.delivery.layout import FLUX_GROUPS, Deletion, Layout, Part, Phase, annotated, deletion
from jacquard.providers.kube.wait import FAILURES

DEFAULT_SOURCE = "GitRepository/flux-system"
"""Source that ``flux bootstrap`` creates."""
DELIVERY, INSIDE = "delivery", "delivery-inside"
"""Folders of the Kustomizations: those in Flux's namespace, and those in the namespaces of clusters."""
_SOURCE = re.compile(r"(GitRepository|OCIRepository)/([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)")
_PRUNE = "kustomize.toolkit.fluxcd.io/prune"
_CONDITION = re.compile(r"condition=([^=]+)(?:=([^=]+))?")
_JSONPATH = re.compile(r"jsonpath=\{\.([^{}]+)\}=(.+)")
_POWER = {"paths": ["/spec/online"], "target": {"group": r"metal3\.io", "kind": "BareMetalHost"}}
"""Field by which a person powers off a host. The Metal3 provider of Cluster API writes it too
(metal3-io/cluster-api-provider-metal3 v1.13.2, baremetal/metal3machine_manager.go, ``setHostSpec``)."""


def source_problem(text: str) -> str | None:
    """Return the reason why ``text`` is an invalid source, with an example; None for a valid source."""
    if _SOURCE.fullmatch(text):
        return None
    return (
        f"must be the GitRepository or OCIRepository in namespace {NAMESPACE} (got {shown(text)}); "
        "write KIND/NAME, such as GitRepository/flux-system"
    )


def marked(items: Iterable[Manifest]) -> Iterator[Manifest]:
    """Yield ``items`` with a mark on those that Flux must not delete."""
    for item in items:
        yield item if deletion(item) is Deletion.PRUNED else annotated(item, _PRUNE, "disabled")


def delivery(parts: Layout, source: str, path: str) -> Iterator[tuple[str, Manifest]]:
    """Yield folder and object of each Kustomization.

    Args:
        parts: parts of the environment.
        source: kind and name of the source, ``GitRepository/flux-system``.
        path: folder of the layout in the repository.
    """
    environment = parts.environment
    yield DELIVERY, _kustomization(environment, NAMESPACE, source, f"{path}/{DELIVERY}")
    if any(part.is_inside for part in parts.parts):
        first = next(part for part in parts.parts if part.phase is Phase.BASE)  # it creates the namespaces of clusters
        needed = [{"name": _name(first)}]
        yield DELIVERY, _kustomization(f"{environment}-inside", NAMESPACE, source, f"{path}/{INSIDE}", dependsOn=needed)
    for part in parts.parts:
        yield INSIDE if part.is_inside else DELIVERY, _of_part(parts, part, source, path)


def _of_part(parts: Layout, part: Part, source: str, path: str) -> Manifest:
    needed = [parts.by_path[name] for name in part.needs]
    hosts = any(item.kind == "BareMetalHost" for item in part.objects)
    return _kustomization(
        _name(part),
        _namespace(part),
        source,
        f"{path}/{part.path}",
        **given(
            dependsOn=[{"name": _name(item), "namespace": _namespace(item)} for item in needed],
            healthChecks=[_reference(item) for item in part.awaited],
            healthCheckExprs=_expressions(part.awaited),
            ignore=[_POWER] if hosts else None,
        ),
        **(inside(part.cluster) if part.is_inside else {}),
    )


def _kustomization(name: str, namespace: str, source: str, path: str, **further: Any) -> Manifest:
    kind, _, source_name = source.partition("/")
    return manifest(
        "kustomize.toolkit.fluxcd.io/v1",
        "Kustomization",
        name,
        namespace=namespace,
        spec={
            "sourceRef": {"kind": kind, "name": source_name, "namespace": NAMESPACE},
            "path": f"./{path.removeprefix('./')}",
            "interval": "10m",
            "retryInterval": "1m",
            "timeout": "10m",
            "prune": True,
            # No confirmation precedes the removal of a slice, so its objects stay.
            "deletionPolicy": "Orphan",
            **further,
        },
    )


def _name(part: Part) -> str:
    return f"inside-{part.slice_name}-{part.phase}" if part.is_inside else f"{part.slice_name}-{part.phase}"


def _namespace(part: Part) -> str:
    """Return the namespace of the Kustomization; that of a cluster contains the Secret with its kubeconfig."""
    return part.cluster if part.is_inside else NAMESPACE


def _reference(item: Manifest) -> dict[str, str]:
    place = given(namespace=item.namespace)
    return {"apiVersion": item.api_version, "kind": item.kind, "name": item.name, **place}


def _expressions(awaited: Iterable[Manifest]) -> list[dict[str, str]]:
    """Return the readiness of each kind as an expression. Flux knows the readiness of its own kinds."""
    by_kind: dict[tuple[str, str], dict[str, list[str]]] = {}
    for item in awaited:
        if item.readiness is not None and not item.api_version.partition("/")[0].endswith(FLUX_GROUPS):
            text = " && ".join(map(_expression, item.readiness.conditions))
            by_kind.setdefault((item.api_version, item.kind), {}).setdefault(text, []).append(item.name)
    return [
        {"apiVersion": version, "kind": kind, "current": _combined(texts), **_failed((version, kind))}
        for (version, kind), texts in by_kind.items()
    ]


def _failed(kind: tuple[str, str]) -> dict[str, str]:
    """Return the expression after which Flux waits no longer for an object of ``kind``; empty for most kinds."""
    return given(failed=_expression(f"condition={FAILURES[kind]}") if kind in FAILURES else None)


def _combined(texts: dict[str, list[str]]) -> str:
    """Return one expression for all objects of a kind, whose expected versions can differ."""
    if len(texts) == 1:
        return next(iter(texts))
    return " || ".join(
        f"(metadata.name in [{', '.join(f'{name!r}' for name in names)}] && {text})" for text, names in texts.items()
    )


def _expression(condition: str) -> str:
    """Return a wait condition of ``pulumi up`` as an expression (CEL) about the object's ``status``."""
    if found := _CONDITION.fullmatch(condition):
        kind, status = found[1], found[2] or "True"
        return f"has(status.conditions) && status.conditions.exists(c, c.type == '{kind}' && c.status == '{status}')"
    if found := _JSONPATH.fullmatch(condition):
        path, value = found.groups()
        steps = path.split(".")
        exist = " && ".join(f"has({'.'.join(steps[: count + 1])})" for count in range(1, len(steps)))
        return f"{exist} && string({path}) == '{value}'"
    msg = f"condition '{condition}' has no expression; write condition=TYPE or jsonpath={{.path}}=VALUE"
    raise ValueError(msg)
