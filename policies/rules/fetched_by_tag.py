"""fetched-by-tag: something that the platform itself runs, and no digest decides what it is.

Why: whoever can write to the registry changes what is behind a tag, and at its next start a controller of all tenants
is another program than the one that was reviewed. A region that is made again later need not be the same.

Refused: `fetchConfig.oci`, or none, of a provider of Cluster API; `image: registry.example/kubectl:v1.36.3`.
Refused: a source of Flux without `ref.digest`, and Multus or a device plugin with a tag.
Right: `cluster-api-providers` among the manifests of ``catalog/versions.yaml``, and images with ``@sha256:``.
Not judged: DPF's charts of services on DPUs, and images that these name, since DPF takes tags alone; and what charts
bring. ``jacquard show ENV images --platform`` lists what is by tag.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from components.render.providers import KINDS
from components.specs.base import Stage
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, listed, undecided, violation

_DIGEST = "sha256:"
_PODS: Mapping[str, tuple[str, ...]] = {
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
    **dict.fromkeys(("DaemonSet", "Deployment", "Job", "StatefulSet"), ("spec", "template", "spec")),
}
_VERSIONS: Mapping[str, tuple[str, ...]] = {
    "OCIRepository": ("spec", "ref", "digest"),
    "NicClusterPolicy": ("spec", "secondaryNetwork", "multus", "version"),
    "NicNodePolicy": ("spec", "sriovDevicePlugin", "version"),
}
"""Where these kinds say the digest of what they fetch."""
_PROVIDERS = frozenset(KINDS.values())


def find(fact: Fact, _context: Context) -> Finding:
    """Look for a digest wherever the object names what it fetches."""
    found = tuple(_named(fact))
    if UNKNOWN in found:
        return undecided("what it fetches")
    tags = [str(one) for one in found if _DIGEST not in str(one)]
    if not tags:
        return PASS
    return violation(
        found=f"{listed(tags)}, by a tag",
        allowed="artefacts and images by their digest, which catalog/versions.yaml pins",
        fix="pin cluster-api-providers among its manifests"
        if fact.kind in _PROVIDERS
        else "write the digest behind it, as name@sha256:<64 hex digits>",
    )


def _named(fact: Fact) -> Iterator[Any]:
    """Yield what the object fetches, with its digest where it has one."""
    kind = str(fact.kind)
    if kind in _PROVIDERS:
        source = fact.at("spec", "fetchConfig")
        selected = fact.at("spec", "fetchConfig", "selector")
        if source is UNKNOWN or selected is UNKNOWN:
            yield UNKNOWN
        elif not selected:
            yield (source or {}).get("oci") or (source or {}).get("url") or "a release of upstream's"
    elif kind in _VERSIONS:
        if fact.at(*_VERSIONS[kind][:-1]) is not None:
            yield fact.at(*_VERSIONS[kind]) or "its source"
    else:
        pod = _PODS[kind]
        for containers in (fact.at(*pod, "containers"), fact.at(*pod, "initContainers")):
            if containers is UNKNOWN:
                yield UNKNOWN
            else:
                yield from (one if one is UNKNOWN else one.get("image") for one in containers or ())


RULE = Rule(
    name=RuleId.FETCHED_BY_TAG,
    description="A digest decides what the platform itself runs.",
    why="what is behind a tag can change, in controllers and jobs that serve all tenants",
    severity=Severity.HIGH,
    kinds=frozenset({*_PODS, *_VERSIONS, *_PROVIDERS}),
    find=find,
    levels={
        Stage.DEVELOPMENT: Enforcement.ADVISORY,
        Stage.STAGING: Enforcement.ADVISORY,
        Stage.PRODUCTION: Enforcement.MANDATORY,
    },
)
