"""Prerequisites that a stack of a real region checks before it is applied, and the messages for missing ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import pulumi
import pytest

from components.inputs.manifests import everything
from components.inputs.slice_inputs import made
from components.lookups.references.table import references_table
from components.lookups.references.walk import MissingTarget, Target, missing_targets
from components.lookups.slices import slices
from components.render.manifest import MANAGEMENT, Manifest
from components.render.objects import manifest, namespace
from components.specs.base import Stage
from components.specs.reading.loader import load_environment
from jacquard.machine import paths
from jacquard.providers.kube import ApiError, ApiServer, ObjectRef, Unreachable
from stacks import gates
from stacks.prerequisites import PrerequisiteCheck, keys_of, look
from tests.support.data.small_region import changed

ENVIRONMENTS = paths.ROOT / "environments"
LAPTOP = load_environment("laptop", ENVIRONMENTS)
ITEMS = tuple(everything(LAPTOP))
GIVEN = tuple(one for one in missing_targets(ITEMS, references_table()).values() if one.target.is_object)


class Cluster:
    """A cluster that has objects and returns only their metadata."""

    def __init__(self, *held: MissingTarget, unserved: str = "", error: ApiError | None = None) -> None:
        self.held = {one.target: managed(*one.keys) for one in held}
        self.unserved, self.error = unserved, error
        self.asked: list[str] = []

    def version(self, group: str, kind: str) -> str | None:
        return None if kind == self.unserved else f"{group}/v1".removeprefix("/")

    def get(self, ref: ObjectRef, *, metadata_only: bool = False) -> dict[str, Any] | None:
        assert metadata_only, "values are nobody's business"
        self.asked.append(str(ref))
        if self.error is not None:
            raise self.error
        places = {(one.kind.rpartition("/")[2], one.namespace, one.name): one for one in self.held}
        found = places.get((ref.kind, ref.namespace or "", ref.name))
        return {"metadata": self.held[found]} if found else None


def managed(*keys: str) -> dict[str, Any]:
    """Return the metadata of an object whose data has ``keys``."""
    fields = {"f:data": {".": {}, **{f"f:{key}": {} for key in keys}}, "f:type": {}}
    return {"managedFields": [{"manager": "kubectl-create", "fieldsV1": fields}]}


def looked(
    clusters: Mapping[str, Cluster], items: Iterable[Manifest] = ITEMS, others: Iterable[Manifest] = ()
) -> PrerequisiteCheck:
    return look(cast("Mapping[str, ApiServer]", clusters), tuple(items), lambda: others)


def of(cluster: str) -> tuple[MissingTarget, ...]:
    return tuple(one for one in GIVEN if one.target.cluster == cluster)


def namespaces(*names: str) -> tuple[MissingTarget, ...]:
    return tuple(MissingTarget(Target("Namespace", MANAGEMENT, "", name), None) for name in names)


SPACES = namespaces(*{one.target.namespace for one in of(MANAGEMENT) if one.target.namespace})


def test_with_all_prerequisites_nothing_is_reported() -> None:
    assert (
        looked({MANAGEMENT: Cluster(*of(MANAGEMENT)), "acme-train": Cluster(*of("acme-train"))}) == PrerequisiteCheck()
    )


@pytest.mark.parametrize("away", GIVEN, ids=lambda one: f"{one.target.cluster}-{one.target.kind}-{one.target}")
def test_each_removed_prerequisite_is_reported(away: MissingTarget) -> None:
    here = away.target.cluster
    rest = [one for one in of(here) if one is not away]
    others = (
        SPACES if here == MANAGEMENT else (MissingTarget(Target("Namespace", here, "", away.target.namespace), None),)
    )

    [text] = looked({here: Cluster(*rest, *others)}).missing

    form = references_table().forms[away.form or ""]
    assert text.splitlines()[0] == f"{form.what}: 1 missing, required by {away.first}"
    assert away.target.name in text.splitlines()[1]
    assert text.splitlines()[-1] == f"    fix: {form.make}"


@pytest.mark.parametrize(
    ("away", "key"),
    [(one, key) for one in GIVEN for key in sorted(one.keys)],
    ids=lambda one: str(one.target) if isinstance(one, MissingTarget) else one,
)
def test_each_removed_key_is_reported(away: MissingTarget, key: str) -> None:
    cluster = Cluster(*of(away.target.cluster))
    cluster.held[away.target] = managed(*away.keys - {key})

    [text] = looked({away.target.cluster: cluster}).missing

    assert f"{away.target.name} (lacks {key})" in text


def test_all_missing_prerequisites_are_reported_together_by_form_and_place() -> None:
    lab = tuple(everything(load_environment("lab", ENVIRONMENTS)))
    spaces = namespaces(*(item.name for item in lab if item.kind == "Namespace"))

    found = looked({MANAGEMENT: Cluster(*spaces)}, lab)

    texts = {text.splitlines()[0].partition(":")[0]: text for text in found.missing}
    assert found.unchecked == ()
    assert texts["logins of BMCs, one for each rack in each namespace with its hosts"] == (
        "logins of BMCs, one for each rack in each namespace with its hosts: 2 missing,"
        " required by BareMetalHost research/a01-u01\n"
        "    Secret in inventory of cluster management: bmc-a01\n"
        "    Secret in research of cluster management: bmc-a01\n"
        "    fix: kubectl -n NAMESPACE create secret generic NAME --from-file=username=FILE --from-file=password=FILE"
    )
    assert texts.keys() == {
        "CA certificates of BMCs",
        "certificates of external shared data stores",
        "certificates of the registry",
        "logins of BMCs, one for each rack in each namespace with its hosts",
        "password of the BMCs of all DPUs",
    }


def test_objects_of_other_stacks_and_controllers_are_not_missing() -> None:
    release = next(item for item in ITEMS if item.kind == "HelmRelease" and item.namespace == "acme-train")
    alone = looked({MANAGEMENT: Cluster()}, [release])

    assert len(alone.missing) == 1
    assert "acme-train-kubeconfig" in alone.missing[0]
    assert looked({MANAGEMENT: Cluster()}, [release], others=ITEMS) == PrerequisiteCheck()


def test_other_stacks_are_rendered_only_when_something_seems_to_be_missing() -> None:
    def never() -> Iterable[Manifest]:
        pytest.fail("nothing is missing")

    assert look(cast("Any", {MANAGEMENT: Cluster(*of(MANAGEMENT))}), ITEMS, never) == PrerequisiteCheck()


HOST = manifest("metal3.io/v1alpha1", "BareMetalHost", "u01", namespace="hosts", spec={"bmc": {"credentialsName": "a"}})


def test_objects_in_a_namespace_that_does_not_exist_yet_are_not_missing_yet() -> None:
    items = (namespace("hosts"), HOST)

    assert looked({MANAGEMENT: Cluster()}, items).unchecked == (
        "not checked, because namespace hosts does not exist yet: hosts/a",
    )
    assert len(looked({MANAGEMENT: Cluster(*namespaces("hosts"))}, items).missing) == 1


def test_kinds_of_an_uninstalled_operator_are_not_missing_yet() -> None:
    cluster = Cluster(*of(MANAGEMENT), unserved="StorageClass")

    assert looked({MANAGEMENT: cluster}) == PrerequisiteCheck(
        unchecked=("not checked, because management does not serve StorageClass yet: local-nvme",)
    )


def test_unreadable_prerequisites_are_reported_without_blocking() -> None:
    cluster = Cluster(*namespaces("hosts"), error=ApiError(403, "Forbidden", "no"))

    assert looked({MANAGEMENT: cluster}, [namespace("hosts"), HOST]) == PrerequisiteCheck(
        unchecked=("not checked, because the user of this run may not get Secrets of management: hosts/a",)
    )


@pytest.mark.parametrize("error", [ApiError(500, "InternalError", "oh"), Unreachable("https://x", "no route")])
def test_other_errors_are_not_mistaken_for_a_response(error: ApiError) -> None:
    with pytest.raises(ApiError):
        looked({MANAGEMENT: Cluster(error=error)}, [namespace("hosts"), HOST])


def test_metadata_without_managers_do_not_contain_keys() -> None:
    assert keys_of({"name": "a"}) is None
    assert keys_of(managed("b", "a")) == {"a", "b"}
    both = {"managedFields": [*managed("a")["managedFields"], *managed("b")["managedFields"]]}
    assert keys_of(both) == {"a", "b"}


@pytest.fixture
def through(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Return a function that checks the gates of laptop as if its hardware were real, and returns the warnings."""

    def run(cluster: Cluster, *, stage: Stage = Stage.PRODUCTION, preview: bool = False) -> list[str]:
        warnings: list[str] = []
        monkeypatch.setattr(gates.ApiServer, "from_kubeconfig", lambda *_, **__: cluster)
        monkeypatch.setattr(gates, "missing_kinds", lambda *_: [])
        monkeypatch.setattr(gates.kubeconfig, "refresh", lambda *_: False)
        monkeypatch.setattr(gates, "not_ready", lambda *_: ())
        monkeypatch.setattr(pulumi.log, "warn", warnings.append)
        region = changed(LAPTOP.region, stage=stage, context="real")
        concepts = [one for part in slices(LAPTOP)[:4] for one in made(LAPTOP, part)]
        gates.pass_gates("laptop", region, concepts, tmp_path, preview=preview, others=lambda: everything(LAPTOP))
        return warnings

    return run


def test_a_real_region_is_not_applied_without_its_prerequisites(through: Any) -> None:
    with pytest.raises(pulumi.RunError) as error:
        through(Cluster(*SPACES))

    lines = str(error.value).splitlines()
    assert lines[0] == "waiting: stack laptop has 7 missing prerequisites"
    assert "    StorageClass in cluster management: local-nvme" in lines
    assert "    Secret in acme-train of cluster management: bmc-a01, bmc-a02, bmc-a03, bmc-a04" in lines
    assert "    Secret in external-dns of cluster management: dns-key" in lines
    receivers = "acme-on-call, dead-mans-switch, pagerduty-on-call, smtp"
    assert f"    Secret in monitoring of cluster management: {receivers}" in lines
    assert "    Secret in registry of cluster management: registry-tls" in lines
    assert lines[-1] == "resume with: pulumi up -s laptop"
    assert through(Cluster(*SPACES, *of(MANAGEMENT))) == []


@pytest.mark.parametrize(("stage", "preview"), [(Stage.REHEARSAL, False), (Stage.PRODUCTION, True)])
def test_a_local_region_and_a_preview_require_no_prerequisites(through: Any, stage: Stage, *, preview: bool) -> None:
    cluster = Cluster()
    through(cluster, stage=stage, preview=preview)

    assert [one for one in cluster.asked if one.startswith("Secret")] == []


def test_an_unresponsive_api_server_is_reported_without_blocking(through: Any) -> None:
    silent = Cluster(error=Unreachable("https://x", "no route"))

    assert through(silent)[0].startswith("cluster management: its prerequisites could not be checked: ")
