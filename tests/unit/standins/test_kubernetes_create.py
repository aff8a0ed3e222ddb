"""Create and Update with a small API server."""

from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.standins.kubernetes.objects import bodies
from jacquard.providers.errors import ProviderError
from jacquard.providers.rpc.errors import InitFailed
from jacquard.providers.rpc.values import decode

URN = "urn:pulumi:dev::toy::kubernetes:core/v1:ConfigMap::r"
CM_PATH = "/api/v1/namespaces/toy/configmaps/a"
SECRET_PATH = "/api/v1/namespaces/toy/secrets/a"
LOOM_PATH = "/apis/toy.dev/v1/namespaces/toy/looms/a"
AWAITED = {"pulumi.com/waitFor": "condition=Ready", "pulumi.com/timeoutSeconds": "0"}
READY = {"conditions": [{"type": "Ready", "status": "True"}]}


def body(kind: str = "ConfigMap", *, annotations: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    metadata = {"name": "a", "namespace": "toy", **({"annotations": annotations} if annotations else {})}
    return {"apiVersion": "toy.dev/v1" if kind == "Loom" else "v1", "kind": kind, "metadata": metadata, **fields}


def test_create_applies_and_returns_the_live_object(kube: Any, api_server: Any) -> None:
    answer = kube.create(body(data={"v": "1"}))

    assert answer.id == "toy/a"
    assert decode(answer.properties).plain == {
        **body(data={"v": "1"}),
        "metadata": {"name": "a", "namespace": "toy", "uid": "uid-1", "resourceVersion": "3"},
        "__inputs": body(data={"v": "1"}),
        "__initialApiVersion": "v1",
        "__fieldManager": bodies.manager(URN, {}),
    }
    assert api_server.requests[-1] == (
        "PATCH",
        CM_PATH,
        {"fieldManager": bodies.manager(URN, {}), "fieldValidation": "Strict"},
    )


def test_create_keeps_an_object_of_others(kube: Any, api_server: Any) -> None:
    api_server.objects[CM_PATH] = {**body(), "metadata": {"name": "a", "namespace": "toy", "uid": "theirs"}}

    with pytest.raises(ProviderError) as error:
        kube.create(body(data={"v": "1"}))

    assert str(error.value) == (
        "ConfigMap toy/a already exists and was not created by this resource; adopt it with the resource option "
        "import_='toy/a', delete it, or choose another name"
    )
    assert api_server.writes() == []


def test_create_adopts_objects_of_a_killed_run(kube: Any, api_server: Any) -> None:
    kube.create(body(data={"v": "1"}))

    assert decode(kube.create(body(data={"v": "2"})).properties).plain["metadata"]["uid"] == "uid-1"
    assert api_server.objects[CM_PATH]["data"] == {"v": "2"}


CHOSEN = {"pulumi.com/patchFieldManager": "shared"}


def test_a_shared_field_manager_only_adopts_objects_of_the_same_resource(kube: Any, api_server: Any) -> None:
    kube.create(body(annotations=CHOSEN))

    assert decode(kube.create(body(annotations=CHOSEN)).properties).plain["metadata"]["uid"] == "uid-1"

    maker = "urn:pulumi:other::toy::kubernetes:core/v1:ConfigMap::r"
    api_server.objects[CM_PATH]["metadata"]["annotations"]["jacquard.dev/made-by"] = maker
    with pytest.raises(ProviderError) as error:
        kube.create(body(annotations=CHOSEN))

    assert str(error.value) == (
        f"ConfigMap toy/a already exists and was created by {maker}; if that is this resource under another name or "
        "apiVersion, add the other one as an alias; otherwise choose another name"
    )


def test_an_object_of_a_shared_field_manager_without_an_owner_is_kept(kube: Any, api_server: Any) -> None:
    kube.create(body(annotations=CHOSEN))
    api_server.objects[CM_PATH]["metadata"]["annotations"] = CHOSEN

    with pytest.raises(ProviderError, match="already exists and was not created by this resource"):
        kube.create(body(annotations=CHOSEN))


def test_an_update_of_an_object_that_is_being_deleted_is_not_done(kube: Any, api_server: Any) -> None:
    state = decode(kube.create(body(data={"v": "1"})).properties).plain
    apply = api_server.answer

    def leaving(method: str, path: str, query: dict[str, str], sent: Any) -> tuple[int, Any]:
        status, live = apply(method, path, query, sent)
        return status, {**live, "metadata": {**live["metadata"], "deletionTimestamp": "then"}}

    api_server.answer = leaving
    with pytest.raises(InitFailed) as error:
        kube.update(state, body(data={"v": "2"}))

    assert str(error.value) == (
        "ConfigMap toy/a is being deleted by another client; run `pulumi up` again after its deletion"
    )


def test_create_waits_for_an_object_that_is_being_deleted(kube: Any, api_server: Any) -> None:
    metadata = {"name": "a", "namespace": "toy", "uid": "old", "deletionTimestamp": "then", "finalizers": ["f"]}
    api_server.objects[CM_PATH] = {**body(), "metadata": metadata}
    looks: list[str] = []

    def vanish_at_the_second_look(path: str) -> None:
        looks.append(path)
        if len(looks) == 2:
            api_server.objects.pop(CM_PATH)

    api_server.after_get = vanish_at_the_second_look

    assert decode(kube.create(body()).properties).plain["metadata"]["uid"] == "uid-1"


def test_a_create_without_a_kubeconfig_fails_with_the_remedy(configure: Any, tmp_path: Path) -> None:
    with pytest.raises(ProviderError) as error:
        configure(kubeconfig=str(tmp_path / "none")).create(body())

    assert str(error.value) == (
        f"{tmp_path / 'none'}: the kubeconfig does not exist (yet); create the cluster first (`jacquard up "
        "ENVIRONMENT` writes the file), or make the provider depend on the resource that writes it"
    )


def test_a_kind_that_is_not_served_is_named_with_its_remedy(kube: Any) -> None:
    with pytest.raises(ProviderError) as error:
        kube.create({**body("Loom"), "apiVersion": "future.dev/v1"})

    assert str(error.value) == (
        "Loom toy/a: the API server does not serve future.dev/v1 Loom; apply its CustomResourceDefinition first, and "
        "make this resource depend on it"
    )


@pytest.mark.parametrize(
    ("status", "answer", "expected"),
    [
        (
            500,
            {"reason": "", "message": ".spec.carsd: field not declared in schema"},
            (
                "ConfigMap toy/a: .spec.carsd: field not declared in schema; correct the spelling of the field, "
                "or remove it"
            ),
        ),
        (
            422,
            {"reason": "Invalid", "message": "spec.x: Invalid value: field is immutable"},
            (
                "ConfigMap toy/a: spec.x: Invalid value: field is immutable; the field cannot be changed in place: "
                "replace the "
                f"object with `pulumi up --replace '{URN}'`"
            ),
        ),
        (
            422,
            {"reason": "Invalid", "message": "parameters: Forbidden: updates to parameters are forbidden."},
            (
                "ConfigMap toy/a: parameters: Forbidden: updates to parameters are forbidden; the field cannot be "
                f"changed in place: replace the object with `pulumi up --replace '{URN}'`"
            ),
        ),
        (
            409,
            {
                "reason": "Conflict",
                "message": "Apply failed with 1 conflict",
                "details": {
                    "causes": [
                        {
                            "reason": "FieldManagerConflict",
                            "field": ".data.v",
                            "message": 'conflict with "kubectl" using v1',
                        }
                    ]
                },
            },
            (
                "ConfigMap toy/a: fields set here belong to another field manager:\n"
                '  .data.v: conflict with "kubectl" using v1\n'
                "remove them here, stop the other manager from setting them, or take ownership with "
                'pulumi.com/patchForce: "true"'
            ),
        ),
    ],
)
def test_refusals_name_field_and_remedy(
    kube: Any, api_server: Any, status: int, answer: dict[str, Any], expected: str
) -> None:
    api_server.refusals["PATCH", CM_PATH] = (status, {"kind": "Status", **answer})

    with pytest.raises(ProviderError) as error:
        kube.update(body(), body(data={"v": "2"}))

    assert str(error.value) == expected


def test_patch_force_takes_over_fields(kube: Any, api_server: Any) -> None:
    kube.update(body(), body(annotations={"pulumi.com/patchForce": "true"}))

    assert api_server.requests[-1][2]["force"] == "true"


def test_secrets_stay_secret_in_outputs_and_leave_error_texts(kube: Any, api_server: Any) -> None:
    inputs = body("Secret", stringData={"pw": "geheim"})
    made = decode(kube.create(inputs).properties)
    assert (made.plain["data"], made.secrets) == ({"pw": "Z2VoZWlt"}, {("data",), ("__inputs", "data")})

    message = 'Secret "a" is invalid: data[pw]: Invalid value: "geheim" (Z2VoZWlt)'
    api_server.refusals["PATCH", SECRET_PATH] = (422, {"kind": "Status", "reason": "Invalid", "message": message})
    with pytest.raises(ProviderError) as error:
        kube.update(made.plain, inputs)
    assert str(error.value) == ('Secret toy/a: Secret "a" is invalid: data[pw]: Invalid value: "[secret]" ([secret])')


def test_an_unready_object_is_kept_in_the_state(kube: Any, api_server: Any) -> None:
    inputs = body("Loom", annotations=AWAITED)
    with pytest.raises(InitFailed) as error:
        kube.create(inputs)

    assert str(error.value) == "Loom toy/a: not ready after 0 s: condition=Ready: not reported yet"
    assert (error.value.detail.id, list(error.value.detail.reasons)) == ("toy/a", [str(error.value)])
    assert decode(error.value.detail.inputs).plain == inputs
    assert decode(error.value.detail.properties).plain["metadata"]["uid"] == "uid-1"

    api_server.objects[LOOM_PATH]["status"] = READY
    assert decode(kube.create(inputs).properties).plain["status"] == READY


def test_cancel_ends_a_wait_and_keeps_the_object(kube: Any, api_server: Any) -> None:
    api_server.after_get = lambda path: kube.provider.Cancel(None, None) if path in api_server.objects else None

    with pytest.raises(InitFailed) as error:
        kube.create(body("Loom", annotations={"pulumi.com/waitFor": "condition=Ready"}))

    assert str(error.value) == ("Loom toy/a: waiting was cancelled with the run: condition=Ready: not reported yet")
    assert error.value.detail.id == "toy/a"


def test_skip_await_waits_for_nothing(kube: Any) -> None:
    assert kube.create(body("Loom", annotations={**AWAITED, "pulumi.com/skipAwait": "true"})).id == "toy/a"


def test_a_service_waits_for_endpoints_and_for_an_address(kube: Any, api_server: Any) -> None:
    timeout = {"pulumi.com/timeoutSeconds": "0"}
    inputs = body("Service", annotations=timeout, spec={"type": "LoadBalancer", "selector": {"app": "a"}})
    with pytest.raises(InitFailed) as error:
        kube.create(inputs)
    assert str(error.value) == "Endpoints toy/a: not ready after 0 s: Endpoints does not exist"

    endpoints = {"kind": "Endpoints", "subsets": [{"addresses": [{"ip": "192.0.2.1"}]}]}
    api_server.objects["/api/v1/namespaces/toy/endpoints/a"] = endpoints
    with pytest.raises(InitFailed) as error:
        kube.create(inputs)
    assert str(error.value) == (
        "Service toy/a: not ready after 0 s: jsonpath={.status.loadBalancer.ingress[0]}: no value yet"
    )

    headless = {**inputs, "spec": {"clusterIP": "None", "selector": {"app": "a"}}}
    assert kube.create(headless).id == "toy/a"


def test_a_definition_is_ready_when_its_kind_is_served(kube: Any, api_server: Any, monkeypatch: Any) -> None:
    spec = {"group": "new.dev", "names": {"kind": "Card"}, "versions": [{"name": "v1", "served": True}]}
    metadata = {"name": "cards.new.dev", "annotations": {"pulumi.com/timeoutSeconds": "0"}}
    inputs = {"kind": "CustomResourceDefinition", "metadata": metadata, "spec": spec}
    inputs["apiVersion"] = "apiextensions.k8s.io/v1"
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/cards.new.dev"
    with pytest.raises(InitFailed) as error:
        kube.create(inputs)
    why = "CustomResourceDefinition cards.new.dev: not ready after 0 s"
    assert str(error.value) == f"{why}: condition=Established: not reported yet"

    api_server.objects[path]["status"] = {"conditions": [{"type": "Established", "status": "True"}]}
    with pytest.raises(InitFailed) as error:
        kube.create(inputs)
    assert str(error.value) == f"{why}: new.dev/v1 Card is not served yet"

    monkeypatch.setitem(api_server.kinds, "/apis/new.dev/v1", {"Card": ("cards", True)})
    assert kube.create(inputs).id == "cards.new.dev"
