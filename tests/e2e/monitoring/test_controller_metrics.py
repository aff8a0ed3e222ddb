"""Metrics of real controllers: Cluster API and MetalLB serve them over TLS, to authorised accounts only.

Both run with the published arguments for metrics at an API server with RBAC. Prometheus is a user of this server. The
metrics have the names and labels that `recorded_metrics.yaml` states and the alerts use.
"""

from __future__ import annotations

import os
import re
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest

from components.render.region.controllers.controller_metrics import ADDRESSES, PODS
from jacquard.lab.rehearsal import crds, ports
from jacquard.lab.rehearsal.operators.releases import provider_manifests
from jacquard.lab.rehearsal.region import MANAGEMENT
from jacquard.lab.toolchain import binaries
from jacquard.machine.errors import ToolchainError
from tests.support.add_ons.helm_charts import Helm
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import reference
from tests.support.local_regions.local_region import wait_until
from tests.support.monitoring.recorded_metrics import RECORD

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

PROMETHEUS, OTHER = "prometheus", "other"
CORE = "cluster-api"
USED = {
    CORE: ("controller_runtime_reconcile_total", "workqueue_longest_running_processor_seconds"),
    ADDRESSES: ("controller_runtime_reconcile_total", "metallb_k8s_client_config_stale_bool"),
}
"""Metrics of the alerts, by job."""
METALLB, POD = "metallb-system", "controller"


@dataclass(frozen=True, kw_only=True)
class Controllers:
    """Running controllers, and users of their API server."""

    ports: dict[str, int]
    """Ports of the metrics, by job."""
    tokens: dict[str, str]

    def read(self, job: str, user: str | None, scheme: str = "https") -> tuple[int, str]:
        """Return the status and the text of a request for metrics; 0 if nothing responds."""
        request = Request(f"{scheme}://{ports.LOOPBACK}:{self.ports[job]}/metrics")  # noqa: S310
        if user is not None:
            request.add_header("Authorization", f"Bearer {self.tokens[user]}")
        unverified = ssl.create_default_context()
        unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
        try:
            with urlopen(request, context=unverified) as answer:  # noqa: S310
                return answer.status, answer.read().decode()
        except HTTPError as rejected:
            return rejected.code, rejected.read().decode()
        except (URLError, ConnectionError):
            return 0, ""


def _permit(server: LocalApiServer) -> None:
    """Permit the user to read metrics, as the monitoring chart does for Prometheus."""
    rules = [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]
    api, group = "rbac.authorization.k8s.io", "rbac.authorization.k8s.io/v1"
    role = {"apiVersion": group, "kind": "ClusterRole", "metadata": {"name": PROMETHEUS}, "rules": rules}
    binding = {
        "apiVersion": group,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": PROMETHEUS},
        "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": PROMETHEUS},
        "subjects": [{"apiGroup": api, "kind": "User", "name": PROMETHEUS}],
    }
    for body in (role, binding):
        server.api.apply(body, field_manager="test")


def _install_metallb(server: LocalApiServer, folder: Path) -> None:
    """Create the kinds of MetalLB, and the pod of its controller."""
    chart = Helm(folder, reference("laptop").versions.kubernetes[-1]).template("metallb", "metallb", METALLB, {})
    crds.install(server.api, [body for body in chart if body["kind"] == "CustomResourceDefinition"])
    metadata = {"name": POD, "namespace": server.namespace(METALLB)}
    spec = {"containers": [{"name": "controller", "image": "none"}]}
    server.api.apply({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}, field_manager="test")


def _arguments(server: LocalApiServer, folder: Path, found: dict[str, int]) -> dict[str, list[str]]:
    """Return the programs with their arguments, by job."""
    [core_health, core_webhook, address_health] = ports.free(3)
    version = reference("laptop").versions.cluster_api.releases["core"]
    published = provider_manifests.recorded()[CORE, version].arguments
    of_metrics = [text for text in published if "diagnostics" in text]
    [port] = {pods.port for pods in PODS if pods.of == CORE}
    return {
        CORE: [
            str(binaries.path("cluster-api-manager")),
            *(text.replace(f":{port}", f"{ports.LOOPBACK}:{found[CORE]}") for text in of_metrics),
            f"--health-addr={ports.LOOPBACK}:{core_health}",
            f"--webhook-port={core_webhook}",
            f"--webhook-cert-dir={folder}",
            "--skip-crd-migration-phases=StorageVersionMigration,CleanupManagedFields",
        ],
        ADDRESSES: [
            str(binaries.path("metallb-controller")),
            f"--port={found[ADDRESSES]}",
            f"--health-probe-port={address_health}",
            "--webhook-mode=disabled",
            f"--namespace={METALLB}",
            f"--kubeconfig={server.kubeconfig}",
        ],
    }


@pytest.fixture(scope="module")
def controllers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Controllers]:
    """Run both controllers at an API server."""
    folder = tmp_path_factory.mktemp("controllers")
    groups = {crd["spec"]["names"]["kind"]: crd["spec"]["group"] for crd in crds.definitions(MANAGEMENT)}
    kinds = [kind for kind, group in groups.items() if group.endswith("cluster.x-k8s.io")]
    try:
        server = LocalApiServer(folder / "server", kinds=kinds, users={PROMETHEUS: "", OTHER: ""})
    except ToolchainError as error:
        pytest.skip(f"NO API SERVER: {error}")
    started = []
    try:
        _permit(server)
        _install_metallb(server, folder / "helm")
        rows = [line.split(",") for line in (server.folder / "tokens.csv").read_text().splitlines()]
        found = dict(zip((CORE, ADDRESSES), ports.free(2), strict=True))
        keys = server.folder / "certificates"
        for name, source in {"tls.crt": "apiserver.crt", "tls.key": "apiserver.key"}.items():
            (folder / name).write_bytes((keys / source).read_bytes())
        environment = {**os.environ, "KUBECONFIG": str(server.kubeconfig), "POD_NAMESPACE": "capi-system"}
        environment |= {"POD_NAME": POD, "POD_UID": "00000000-0000-0000-0000-000000000000", "METALLB_POD_NAME": POD}
        for job, command in _arguments(server, folder, found).items():
            with (folder / f"{job}.log").open("wb") as log:
                started.append(
                    subprocess.Popen(
                        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
                    )
                )
        made = Controllers(ports=found, tokens={name: token for token, name, *_ in rows})
        for job in found:
            wait_until(
                lambda job=job: all(name in made.read(job, PROMETHEUS)[1] for name in USED[job]),
                timeout_seconds=120,
                what=f"{job} serves its metrics; see {folder / job}.log",
            )
        yield made
    finally:
        for process in started:
            process.kill()
            process.wait()
        server.stop()


@pytest.mark.parametrize("job", USED)
def test_metrics_need_a_token_of_an_account_that_may_read_them(controllers: Controllers, job: str) -> None:
    answers = [controllers.read(job, user)[0] for user in (None, OTHER, PROMETHEUS)]

    assert answers == [HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.OK]
    assert controllers.read(job, PROMETHEUS, scheme="http")[0] in {0, HTTPStatus.BAD_REQUEST}


@pytest.mark.parametrize("job", USED)
def test_metrics_have_the_recorded_labels(controllers: Controllers, job: str) -> None:
    _, text = controllers.read(job, PROMETHEUS)

    for name in USED[job]:
        series = re.findall(rf"^{name}(?:{{(.*)}})? ", text, re.MULTILINE)
        assert series, name
        [labels] = [exporter["metrics"][name] for exporter in RECORD["exporters"] if name in exporter["metrics"]]
        assert {label for entry in series for label in re.findall(r'(\w+)="', entry)} == {*labels}, name
