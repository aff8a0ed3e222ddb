"""Every object of every environment and choice of backends, validated by a real API server with published kinds.

It rejects violations of schemas and CEL rules, unknown fields, and invalid objects of built-in kinds. Each object is
applied as by `jacquard up`, as a dry run: all objects in nightly runs, otherwise two of those that differ in numbers
only. Webhooks and transition rules are not evaluated. The returned object must equal the applied one: the vendor's
provider compares the two at each run.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import product
from typing import Any

import pytest

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import Manifest, objects
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.hosts.instance_types import PortUse, RdmaSpec
from components.specs.network.tenant_network import Isolation
from components.specs.reading.loader import environments, load_environment
from components.specs.region.region import ControlPlaneBackend
from jacquard.lab.rehearsal import crds
from jacquard.lab.standins.kubernetes.objects.normal import normal
from jacquard.providers.kube import ApiError
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.complete_pools import with_complete_pools
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.data.manifest_pins import REGISTRY, by_charts, cluster_api_by_tag
from tests.support.data.second_backends import with_backends
from tests.support.engine.vendor_diff import vendor_diff
from tests.support.network.on_infiniband import on_infiniband
from tests.support.objects.published_crds import CrdFolder

pytestmark = pytest.mark.e2e

NAMES = environments(ENVIRONMENTS)
SHOWN = 20
"""Number of rejections shown for each environment; one mistake in a renderer causes one for each host."""
WORKERS = 8
NUMBER = re.compile("[0-9a-f]*[0-9][0-9a-f]*")
"""Numbers, decimal or hexadecimal."""
Kind = tuple[str, str]
"""API group, empty for the core group, and kind."""


def rendered(environment: Environment) -> tuple[Manifest, ...]:
    return tuple(item for part in slices(environment) for item in objects(manifests(environment, part)))


@cache
def of_environment(name: str) -> tuple[Manifest, ...]:
    return rendered(load_environment(name, ENVIRONMENTS))


@cache
def of_choices() -> tuple[Manifest, ...]:
    """Return the laptop's objects for each choice of backends, deliveries and pool options, equal ones once."""
    laptop = load_environment("laptop", ENVIRONMENTS)
    backends = product(ControlPlaneBackend, BareMetalBackend, Isolation, ("dedicated", "shared-a"))
    chosen = [
        with_complete_pools(laptop),
        *(on_infiniband(laptop, RdmaSpec(ports=use)) for use in (PortUse.WHOLE, PortUse.SHARED)),
        *(by_charts(laptop, handed_over=handed_over) for handed_over in (True, False)),
        *(cluster_api_by_tag(laptop, registry) for registry in (REGISTRY, None)),
        *(
            with_backends(laptop, control_planes=planes, bare_metal=metal, isolation=isolation, data_store=store)
            for planes, metal, isolation, store in backends
        ),
    ]
    return tuple({json.dumps(item.body): item for one in chosen for item in rendered(one)}.values())


def kind_of(item: Manifest) -> Kind:
    return item.api_version.rpartition("/")[0], item.kind


@cache
def everything() -> tuple[Manifest, ...]:
    return (*of_choices(), *(item for name in NAMES for item in of_environment(name)))


@cache
def examples() -> dict[Kind, Manifest]:
    """Return the first object of each kind that any environment renders."""
    return {kind_of(item): item for item in reversed(everything())}


class Validator:
    """An API server with the published definition of every rendered kind, and every rendered namespace."""

    def __init__(self, server: LocalApiServer) -> None:
        self._api = server.api
        published = CrdFolder()
        custom = [kind for kind in sorted(examples()) if self._api.version(*kind) is None]
        crds.install(self._api, [crds.prepared(dict(published.definition(*kind))) for kind in custom])
        for name in sorted({item.name for item in everything() if item.kind == "Namespace"}):
            server.namespace(name)

    def refusal(self, body: Any) -> str | None:
        """Return the API server's error for an object; empty if accepted."""
        try:
            if self._api.resource(body["apiVersion"], body["kind"]).namespaced and "namespace" not in body["metadata"]:
                return "has no namespace, and would be put where the user happens to be"
            kept = self._api.apply(body, field_manager="jacquard", dry_run=True)
        except ApiError as error:
            return str(error)
        again = vendor_diff({**kept, "__inputs": normal(body)}, body)
        return (
            f"is kept in another spelling, so that the vendor's provider would plan it for ever: {again}"
            if again
            else None
        )

    def refusals(self, items: Sequence[Manifest]) -> dict[str, str]:
        """Return the errors for those of ``items`` that are rejected."""
        with ThreadPoolExecutor(WORKERS) as workers:
            answers = workers.map(lambda item: (item.key, self.refusal(item.body)), items)
            return {key: answer for key, answer in answers if answer is not None}


@pytest.fixture(scope="module")
def validator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Validator]:
    CrdFolder()  # Skips the module before anything is started.
    server = LocalApiServer(tmp_path_factory.mktemp("published") / "server", kinds=())
    try:
        yield Validator(server)
    finally:
        server.stop()


def examples_of_alike(items: Iterable[Manifest]) -> list[Manifest]:
    """Return the first and the longest of objects that differ in numbers only, as hosts and their DPUs do."""
    alike = defaultdict[str, dict[str, Manifest]](dict)
    for item in items:
        text = json.dumps(item.body)
        alike[NUMBER.sub("0", text)].setdefault(text, item)
    chosen = (dict.fromkeys((next(iter(group)), max(group, key=len))) for group in alike.values())
    return [group[text] for group, texts in zip(alike.values(), chosen, strict=True) for text in texts]


def test_the_first_and_the_longest_of_similar_hosts_are_examples() -> None:
    def host(name: str, **spec: Any) -> Manifest:
        return Manifest(body={"kind": "BareMetalHost", "metadata": {"name": name}, "spec": spec})

    rack = [host("a01-u1", mac="02:00:0a"), host("a01-u11", mac="02:00:0b"), host("b02-u2", mac="02:00:00")]
    others = [host("a01-u3", online=True), host("spare-1", mac="02:00:00")]

    assert examples_of_alike([*rack, *others]) == [*rack[:2], *others]


def assert_accepted(validator: Validator, items: Sequence[Manifest]) -> None:
    refused = [f"{key}: {text}" for key, text in validator.refusals(items).items()]
    if refused:
        pytest.fail("\n".join([f"{len(refused)} of {len(items)} objects are refused, of which:", *refused[:SHOWN]]))


@pytest.mark.parametrize("name", NAMES)
def test_objects_of_an_environment_are_accepted(validator: Validator, name: str) -> None:
    assert_accepted(validator, examples_of_alike(of_environment(name)))


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_every_object_of_an_environment_is_accepted(validator: Validator, name: str) -> None:
    assert_accepted(validator, of_environment(name))


def test_objects_of_other_choices_are_accepted(validator: Validator) -> None:
    assert_accepted(validator, examples_of_alike(of_choices()))


@pytest.mark.nightly
def test_every_object_of_other_choices_is_accepted(validator: Validator) -> None:
    assert_accepted(validator, of_choices())


def broken(item: Manifest, path: str, value: Any) -> dict[str, Any]:
    """Return the body of ``item`` with another value at ``path``."""
    body: dict[str, Any] = json.loads(json.dumps(item.body))
    *parents, last = path.split(".")
    inner = body
    for parent in parents:
        inner = inner.setdefault(parent, {})
    inner[last] = value
    return body


def test_every_kind_rejects_unknown_fields(validator: Validator) -> None:
    taken = set()
    for kind, item in examples().items():
        path = "spec.loom" if "spec" in item.body else "loom"
        if f".{path}: field not declared in schema" not in (validator.refusal(broken(item, path, "warp")) or ""):
            taken.add(kind)

    assert taken == set()
    assert len(examples()) > 50


BROKEN = [
    (
        "DataStore",
        "spec.tlsConfig.certificateAuthority.privateKey",
        {},
        """DataStore.kamaji.clastix.io "{name}" is invalid: spec: Invalid value: certificateAuthority privateKey must
        have secretReference or content when driver is etcd (422 Invalid)""",
    ),
    (
        "KamajiControlPlane",
        "spec.addons.konnectivity.agent.replicas",
        3,
        """KamajiControlPlane.controlplane.cluster.x-k8s.io "{name}" is invalid: spec.addons.konnectivity.agent: Invalid
        value: replicas must be 0 (or unset) when mode is DaemonSet, and greater than 0 (or unset) when mode is
        Deployment (422 Invalid)""",
    ),
    (
        "KubeadmConfigTemplate",
        "spec.template.spec.joinConfiguration.nodeRegistration.kubeletExtraArgs",
        [{"name": "v", "value": "2"}, {"name": "v", "value": "4"}],
        """KubeadmConfigTemplate.bootstrap.cluster.x-k8s.io "{name}" is invalid:
        spec.template.spec.joinConfiguration.nodeRegistration.kubeletExtraArgs: Invalid value: kubeletExtraArgs name
        must be unique (422 Invalid)""",
    ),
    (
        "HelmRelease",
        "spec.chart",
        {"spec": {"chart": "a", "sourceRef": {"kind": "HelmRepository", "name": "a"}}},
        """HelmRelease.helm.toolkit.fluxcd.io "{name}" is invalid: spec: Invalid value: either chart or chartRef must be
        set (422 Invalid)""",
    ),
    (
        "DPUNode",
        "metadata.name",
        "a" * 49,
        """DPUNode.provisioning.dpu.nvidia.com "{name}" is invalid: <nil>: Invalid value: name length can't be bigger
        than 48 chars (422 Invalid)""",
    ),
    (
        "BareMetalHost",
        "spec.bootMode",
        "uefi",
        """BareMetalHost.metal3.io "{name}" is invalid: spec.bootMode: Unsupported value: "uefi": supported values:
        "UEFI", "UEFISecureBoot", "legacy" (422 Invalid)""",
    ),
    ("BareMetalHost", "metadata.namespace", "nobody-made-it", 'namespaces "nobody-made-it" not found (404 NotFound)'),
    (
        "BareMetalHost",
        "metadata",
        {"name": "a"},
        "has no namespace, and would be put where the user happens to be",
    ),
    (
        "BareMetalHost",
        "apiVersion",
        "metal3.io/v1",
        "the API server does not serve metal3.io/v1 BareMetalHost (404 KindNotFound)",
    ),
    (
        "StorageClass",
        "reclaimPolicy",
        "Keep",
        """StorageClass.storage.k8s.io "{name}" is invalid: reclaimPolicy: Unsupported value: "Keep": supported values:
        "Delete", "Retain" (422 Invalid)""",
    ),
]
"""Kind, path and invalid value, and the API server's error."""


@pytest.mark.parametrize(
    ("kind", "path", "value", "refusal"), BROKEN, ids=[f"{kind}-{path}" for kind, path, *_ in BROKEN]
)
def test_violations_of_a_kind_are_rejected(
    validator: Validator, kind: str, path: str, value: Any, refusal: str
) -> None:
    [sound] = [item for (_, name), item in examples().items() if name == kind]
    body = broken(sound, path, value)

    assert validator.refusal(sound.body) is None
    assert validator.refusal(body) == " ".join(refusal.split()).format(name=body["metadata"]["name"])
