"""Model endpoints: Service, network access, base of the LeaderWorkerSet, and the controller's chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.inputs import add_ons
from components.inputs.workloads import queues, serving
from components.lookups.pools import PlacedCluster, clusters
from components.render.manifest import Manifest
from components.render.workloads.serving import BASE, CHART, alerts
from components.specs.control_planes.cluster_namespaces import NamespaceSpec
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.struct import replace
from components.specs.workloads.queues import QueuesSpec
from components.specs.workloads.serving import ServingSpec
from tests.support.add_ons.helm_charts import Helm
from tests.support.data.environment_data import reference
from tests.support.data.small_region import changed
from tests.support.objects.rendered_objects import objects_of
from tests.support.workloads.serving_example import blocks, completed

LARGE: dict[str, Any] = {"name": "large", "namespace": "models", "pool": "infer", "groups": 2, "nodes": 2}


def placed(environment: Environment, *, space: dict[str, Any] | None = None, **endpoint: Any) -> PlacedCluster:
    """Return acme-train, without queues, with one endpoint in namespace models."""
    [found] = [one for one in clusters(environment) if one.cluster.name == "acme-train"]
    spec = ServingSpec.model_validate({"priority": "high", "endpoints": [{**LARGE, **endpoint}]})
    cluster = changed(
        found.cluster,
        namespaces=(NamespaceSpec.model_validate({"name": "models", **(space or {})}),),
        serving=spec,
        add_ons=("default", "monitoring", "lws"),
        pod_priorities=("low", "normal", "high"),
    )
    return replace(found, cluster=cluster)


def rendered(environment: Environment, cluster: PlacedCluster) -> dict[str, dict[str, Any]]:
    [given] = serving.of_cluster(environment, cluster)
    return {item.kind: dict(item.body) for item in given.render()}


def base(environment: Environment, cluster: PlacedCluster) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(rendered(environment, cluster)["ConfigMap"]["data"][BASE])
    return loaded


def template(body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = body["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    return found


def of_training() -> tuple[Environment, PlacedCluster]:
    environment = reference("us-east-04a")
    [found] = [one for one in clusters(environment) if one.cluster.name == "aurelia-train"]
    return environment, found


def test_an_endpoint_in_the_cluster_has_a_service_and_no_address(laptop: Environment) -> None:
    objects = rendered(laptop, placed(laptop, port=9000))

    assert set(objects) == {"Service", "ConfigMap"}
    assert objects["Service"]["metadata"]["name"] == "endpoint-large"
    assert objects["Service"]["spec"] == {
        "type": "ClusterIP",
        "selector": {
            "leaderworkerset.sigs.k8s.io/name": "large",
            "leaderworkerset.sigs.k8s.io/worker-index": "0",
        },
        "ports": [{"name": "model", "protocol": "TCP", "port": 9000, "targetPort": 9000}],
    }


def test_a_load_balancer_has_a_name_and_opens_one_port_of_the_leaders_only(laptop: Environment) -> None:
    objects = rendered(laptop, placed(laptop, exposure="load-balancer"))
    service, policy = objects["Service"], objects["NetworkPolicy"]

    name = service["metadata"]["annotations"]["external-dns.alpha.kubernetes.io/hostname"]
    assert name == "large.acme-train.laptop.cloud.example"
    assert (service["spec"]["type"], service["spec"]["externalTrafficPolicy"]) == ("LoadBalancer", "Local")
    assert policy["spec"]["podSelector"] == {"matchLabels": service["spec"]["selector"]}
    [rule] = policy["spec"]["ingress"]
    assert rule["ports"] == [{"protocol": "TCP", "port": 8000}]
    [peer] = rule["from"]
    pods = laptop.allocations.vpcs["acme"].of_cluster("acme-train").of_kind("pods")
    assert {str(laptop.region.networks.bmc), *map(str, pods)} < set(peer["ipBlock"]["except"])


def test_namespaces_without_policies_get_none(laptop: Environment) -> None:
    cluster = placed(laptop, space={"isolation": "none"}, exposure="load-balancer")

    assert "NetworkPolicy" not in rendered(laptop, cluster)


def test_without_queues_a_group_has_its_own_domain_by_affinity(laptop: Environment) -> None:
    body = base(laptop, placed(laptop, within="rack"))

    assert body["metadata"] == {
        "name": "large",
        "namespace": "models",
        "annotations": {"leaderworkerset.sigs.k8s.io/exclusive-topology": "jacquard.dev/rack"},
    }
    assert "metadata" not in template(body)
    assert "annotations" not in base(laptop, placed(laptop))["metadata"]


def test_a_backend_that_labels_no_nodes_has_failure_domains(laptop: Environment) -> None:
    metal = changed(laptop.region.bare_metal, backend=BareMetalBackend.IRONCORE_METAL)
    ironcore = changed(laptop, region=changed(laptop.region, bare_metal=metal))

    key = "leaderworkerset.sigs.k8s.io/exclusive-topology"
    domain = base(ironcore, placed(laptop, within="rack"))["metadata"]["annotations"][key]
    assert domain == "node-restriction.kubernetes.io/failure-domain"


def test_in_queues_kueue_places_a_group_with_its_class_and_the_flavor_tolerations() -> None:
    environment, cluster = of_training()
    [given] = queues.of_cluster(environment, cluster)
    objects = {(item.kind, item.name): item.body for item in given.render()}
    body = base(environment, cluster)

    labels = body["metadata"]["labels"]
    assert ("LocalQueue", labels["kueue.x-k8s.io/queue-name"]) in objects
    group = objects["WorkloadPriorityClass", labels["kueue.x-k8s.io/priority-class"]]
    assert group["value"] == max(item.value for item in given.classes.values())
    assert "annotations" not in body["metadata"]
    level = template(body)["metadata"]["annotations"]["kueue.x-k8s.io/podset-required-topology"]
    [topology] = [item for (kind, _), item in objects.items() if kind == "Topology"]
    assert {"nodeLabel": level} in topology["spec"]["levels"]
    pod = template(body)["spec"]
    [flavor] = [item for (kind, name), item in objects.items() if kind == "ResourceFlavor" and name.startswith("nvl72")]
    assert pod["nodeSelector"] == flavor["spec"]["nodeLabels"]
    assert pod["tolerations"] == flavor["spec"]["tolerations"]
    assert pod["priorityClassName"] in cluster.cluster.pod_priorities


def test_kueue_manages_leaderworkersets_in_a_cluster_with_queues_and_endpoints() -> None:
    environment, cluster = of_training()
    [given] = add_ons.of_cluster(environment, cluster)
    release = next(item for item in objects_of(given) if item.kind == "HelmRelease" and item.name == "kueue")
    text = release.body["spec"]["values"]["managerConfig"]["controllerManagerConfigYaml"]

    assert "leaderworkerset.x-k8s.io/leaderworkerset" in yaml.safe_load(text)["integrations"]["frameworks"]


def test_a_queue_without_the_priority_renders_no_class(laptop: Environment) -> None:
    cluster = placed(laptop)
    teams = [{"name": "models", "namespaces": ["models"], "nodes": {"infer": 4}}]
    queued = QueuesSpec.model_validate({"queued": "pods", "classes": {"training": "normal"}, "teams": teams})

    assert serving.queue_class(changed(cluster.cluster, queues=queued)) is None


def test_pods_of_groups_use_all_gpus_and_those_of_several_nodes_all_fabric_ports() -> None:
    environment, cluster = of_training()
    assert cluster.cluster.serving is not None
    [endpoint] = cluster.cluster.serving.endpoints
    one = changed(cluster.cluster.serving, endpoints=(changed(endpoint, nodes=1, within=None),))
    alone = replace(cluster, cluster=changed(cluster.cluster, serving=one))

    wide, narrow = (template(base(environment, placed)) for placed in (cluster, alone))

    assert wide["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "4", "nvidia.com/infiniband": "4"}
    assert wide["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"].split(",") == ["default/ib-east-2"] * 4
    assert narrow["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "4"}
    assert "metadata" not in narrow


@pytest.mark.parametrize(("level", "contexts"), [("restricted", 2), ("baseline", 0)])
def test_pods_meet_the_standard_of_their_namespace(laptop: Environment, level: str, contexts: int) -> None:
    pod = template(base(laptop, placed(laptop, space={"pod_security": level})))["spec"]

    assert sum("securityContext" in part for part in (pod, *pod["containers"])) == contexts


def test_caches_end_with_their_pod_and_keys_are_references() -> None:
    environment, cluster = of_training()
    pod = template(base(environment, cluster))["spec"]

    [cache] = [volume for volume in pod["volumes"] if volume["name"] == "models"]
    assert cache["ephemeral"]["volumeClaimTemplate"]["spec"] == {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "scratch",
        "resources": {"requests": {"storage": "2Ti"}},
    }
    assert pod["containers"][0]["envFrom"] == [
        {"configMapRef": {"name": "bucket-weights"}},
        {"secretRef": {"name": "bucket-weights"}},
    ]


def test_the_documented_patch_completes_the_documented_base() -> None:
    data, kustomization, *_ = blocks()
    environment, cluster = of_training()
    body = completed(base(environment, cluster))
    [endpoint] = data["clusters"][0]["serving"]["endpoints"]
    declared = cluster.cluster.serving
    assert declared is not None
    assert endpoint == declared.endpoints[0].model_dump(mode="json", exclude_unset=True)

    [patch] = kustomization["patches"]
    assert patch["target"] == {"kind": body["kind"], "name": body["metadata"]["name"]}
    [server] = template(body)["spec"]["containers"]
    script = server["command"][-1]
    assert server["image"].startswith("docker.io/vllm/vllm-openai:v")
    assert f"--port {server['ports'][0]['containerPort']}" in script
    assert f"--tensor-parallel-size {server['resources']['limits']['nvidia.com/gpu']}" in script
    [store] = environment.region.object_stores
    assert ("USE_VIRTUAL_ADDRESSING=0" in script) is (store.addressing.value == "path")


def release_of_controller(environment: Environment) -> Manifest:
    [given] = add_ons.of_cluster(environment, placed(environment))
    return next(item for item in objects_of(given) if item.kind == "HelmRelease" and item.name == CHART)


def test_webhooks_for_pods_select_pods_of_groups_only(laptop: Environment, tmp_path: Path) -> None:
    objects = Helm(tmp_path, laptop.versions.kubernetes[-1]).installed(release_of_controller(laptop))
    hooks = [hook for body in objects for hook in body.get("webhooks", ())]

    selected = [hook for hook in hooks if any("pods" in rule["resources"] for rule in hook["rules"])]
    assert {hook["name"] for hook in selected} == {"mpod.kb.io", "vpod.kb.io"}
    needed = {"matchExpressions": [{"key": "leaderworkerset.sigs.k8s.io/name", "operator": "Exists"}]}
    assert [hook["objectSelector"] for hook in selected] == [needed, needed]
    others = {resource for hook in hooks for rule in hook["rules"] for resource in rule["resources"]}
    assert others == {"pods", "leaderworkersets"}


def test_the_controller_has_the_image_of_its_chart_and_cannot_be_preempted(laptop: Environment, tmp_path: Path) -> None:
    objects = Helm(tmp_path, laptop.versions.kubernetes[-1]).installed(release_of_controller(laptop))
    [deployment] = [body for body in objects if body["kind"] == "Deployment"]
    pod = deployment["spec"]["template"]["spec"]

    [chart] = (chart for chart in laptop.versions.charts if chart.name == "lws")
    assert pod["containers"][0]["image"] == f"registry.k8s.io/lws/lws:v{chart.version}"
    assert (pod["priorityClassName"], deployment["spec"]["replicas"]) == ("system-cluster-critical", 2)
    [rule] = [entry for entry in alerts(laptop.add_ons.add_ons, {}) if entry["alert"] == "ServingControllerDown"]
    assert f'deployment="{deployment["metadata"]["name"]}"' in rule["expr"]


def test_alerts_are_about_declared_endpoints_and_the_controller_by_its_name(laptop: Environment) -> None:
    [entry] = [item for item in laptop.add_ons.add_ons if item.chart == CHART]
    renamed = [changed(entry, name="serving", namespace="models-system")]
    found = {rule["alert"]: rule["expr"] for rule in alerts(renamed, {"one": ("a", "b"), "two": ("c",)})}

    assert 'namespace="models-system",deployment="serving-lws-controller-manager"' in found["ServingControllerDown"]
    degraded = [rule["expr"] for rule in alerts((), {"one": ("a", "b"), "two": ("c",)})]
    assert sum('statefulset=~"(a|b)(-[0-9]+)?"' in text for text in degraded) == 1
    assert sum('namespace="two"' in text for text in degraded) == 2
    assert list(alerts((), {})) == []
