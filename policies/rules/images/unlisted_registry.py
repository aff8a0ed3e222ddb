"""unlisted-registry: software from a registry that the environment does not list.

Why: the digest of an artefact proves its content, but not who publishes it. An edit of the catalogue could fetch a
chart with another content and its digest from a registry with a similar name, such as `registry.example.evil.com`.

Rejected: a Flux source or an image of a pod from a host, or below a path, that `registries` of `policy.yaml` does not
list. Hosts and whole path segments are compared: `registry.example/charts` allows `registry.example/charts/x`, not
`registry.example/charts-x` or `registry.example.com/charts/x`.
Correct: `registries: [registry.example]` in `policy.yaml`, and mirrors of all software there.
Not evaluated: environments without `registries`, and images in charts, which `registry.cache` restricts.
"""

from collections.abc import Iterator
from typing import Any

from components.specs.region.policy import RuleId
from components.specs.struct import replace
from policies.facts import UNKNOWN, Context, Fact
from policies.parameters import Parameter
from policies.pod_images import PODS, pod_images
from policies.verdict import NOT_APPLICABLE, PASS, Finding, Rule, Severity, listed, undecided, violation

_URLS = {"OCIRepository": ("spec", "url"), "HelmRepository": ("spec", "url")}
_DOCKER = "docker.io"
"""Registry of images without one (distribution/reference:normalize.go)."""


def find(fact: Fact, context: Context) -> Finding:
    """Compare the registries of the object's artefacts and images with those that the environment lists."""
    if not context.registries:
        return NOT_APPLICABLE
    names = tuple(_names(fact))
    if UNKNOWN in names:
        return undecided("the reference to its source")
    unlisted = [name for name in names if not any(is_below(name, allowed) for allowed in context.registries)]
    if not unlisted:
        return PASS
    return violation(
        found=listed(unlisted),
        allowed=f"registries of environments/{context.environment}/policy.yaml: {listed(context.registries)}",
        fix="fetch the artefact from a listed registry, or list its registry after a review",
    )


def is_below(name: str, allowed: str) -> bool:
    """Return whether ``name``, a repository without a scheme, is ``allowed`` or below it."""
    return f"{name}/".startswith(f"{allowed.rstrip('/')}/")


def _names(fact: Fact) -> Iterator[Any]:
    """Yield the repositories of the object's artefacts and images, each with its host."""
    kind = str(fact.kind)
    if kind in _URLS:
        url = fact.at(*_URLS[kind])
        yield url if url is UNKNOWN else str(url).partition("://")[2]
        return
    for image in pod_images(fact):
        yield image if image is UNKNOWN else _repository(str(image))


def _repository(image: str) -> str:
    """Return the repository of ``image`` with its host, without a tag and a digest."""
    name = image.partition("@")[0]
    host, slash, rest = name.partition("/")
    if not slash or not ("." in host or ":" in host or host == "localhost"):
        host, rest = _DOCKER, name
    return f"{host}/{rest.partition(':')[0]}"


def _fault(value: Any, context: Context) -> str:
    """Return the reason why the parameter is not permitted: it may only remove registries of the environment."""
    if not isinstance(value, list) or not value or not all(isinstance(item, str) and item for item in value):
        return "must be a list of registries, such as [registry.example/charts]"
    allowed = context.registries
    wider = [item for item in value if allowed and not any(is_below(item, name) for name in allowed)]
    known = f"registries of environments/{context.environment}/policy.yaml: {listed(allowed)}"
    return f"must be below {known}; not {listed(wider)}" if wider else ""


REGISTRIES = Parameter(
    name="registries",
    schema={
        "type": "array",
        "items": {"type": "string"},
        "description": "Registries from which software may be fetched; a part of those of the environment",
    },
    fault=_fault,
    apply=lambda value, context: replace(context, registries=tuple(value)),
)
RULE = Rule(
    name=RuleId.UNLISTED_REGISTRY,
    description="Software is fetched from registries that the environment lists.",
    why="software of an unknown publisher would run on nodes of all tenants",
    severity=Severity.CRITICAL,
    parameters=(REGISTRIES,),
    kinds=frozenset({*PODS, *_URLS}),
    find=find,
)
