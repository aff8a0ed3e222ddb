"""fetched-by-tag: an artefact or image of the platform that is not pinned by a digest.

Why: anyone with write access to the registry can change the content of a tag. A controller that serves all tenants
would run unreviewed code after its next restart, and a region that is recreated later may differ.

Rejected: `fetchConfig.oci`, or no source, in a Cluster API provider; `image: registry.example/kubectl:v1.36.3`.
Rejected: a Flux source without `ref.digest`, and Multus, CNI plug-ins or a device plugin with a tag.
Correct: `cluster-api-providers` in the manifests of ``catalog/versions.yaml``, and images with ``@sha256:``.
Not evaluated: DPF's charts of DPU services and the images in them, since DPF accepts only tags; and the images in
charts. ``jacquard show ENV images --platform`` lists all references by tag.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from components.render.providers import KINDS
from components.specs.base import Stage
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import UNKNOWN, Context, Fact
from policies.pod_images import PODS, pod_images
from policies.verdict import PASS, Finding, Rule, Severity, listed, undecided, violation

_DIGEST = re.compile(r"(?:[^@]*@)?sha256:[0-9a-f]{64}")
_VERSIONS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "OCIRepository": (("spec", "ref", "digest"),),
    "NicClusterPolicy": tuple(("spec", "secondaryNetwork", part, "version") for part in ("multus", "cniPlugins")),
    "NicNodePolicy": (("spec", "sriovDevicePlugin", "version"),),
}
"""Paths of the digests in objects of these kinds."""
_PROVIDERS = frozenset(KINDS.values())


def find(fact: Fact, _context: Context) -> Finding:
    """Check for a digest in every reference of the object to an artefact or image."""
    references = tuple(_references(fact))
    if UNKNOWN in references:
        return undecided("the reference to its source")
    tags = [str(reference) for reference in references if not _DIGEST.fullmatch(str(reference))]
    if not tags:
        return PASS
    return violation(
        found=f"{listed(tags)}, referenced by tag",
        allowed="artefacts and images referenced by the digest that catalog/versions.yaml pins",
        fix="pin cluster-api-providers in the manifests of catalog/versions.yaml"
        if fact.kind in _PROVIDERS
        else "write the digest of the tag, as name@sha256:<64 hex digits>",
    )


def _references(fact: Fact) -> Iterator[Any]:
    """Yield the references of the object to artefacts and images, with their digests if they have them."""
    kind = str(fact.kind)
    if kind in _PROVIDERS:
        source = fact.at("spec", "fetchConfig")
        selected = fact.at("spec", "fetchConfig", "selector")
        if source is UNKNOWN or selected is UNKNOWN:
            yield UNKNOWN
        elif not selected:
            yield (source or {}).get("oci") or (source or {}).get("url") or "an upstream release"
    elif kind in _VERSIONS:
        for path in _VERSIONS[kind]:
            if fact.at(*path[:-1]) is not None:
                yield fact.at(*path) or "its source"
    else:
        yield from pod_images(fact)


RULE = Rule(
    name=RuleId.FETCHED_BY_TAG,
    description="Artefacts and images of the platform are pinned by digest.",
    why="the content of a tag can change, and the controllers and jobs that use the tag serve all tenants",
    severity=Severity.HIGH,
    kinds=frozenset({*PODS, *_VERSIONS, *_PROVIDERS}),
    find=find,
    levels={
        Stage.DEVELOPMENT: Enforcement.ADVISORY,
        Stage.STAGING: Enforcement.ADVISORY,
        Stage.PRODUCTION: Enforcement.MANDATORY,
    },
)
