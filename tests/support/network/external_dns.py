"""The real ExternalDNS at one API server: pods of its chart with the values of our releases, and a name server.

Pods run as in the local region (`jacquard.lab.rehearsal.operators.programs`), with the permissions that we grant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import dns.query
import dns.tsigkeyring
import dns.update

from components.render.manifest import Manifest
from jacquard.lab.rehearsal import processes
from jacquard.lab.rehearsal.charts import KIND
from jacquard.lab.rehearsal.operators.mirror import CONNECTIONS, Mirror
from jacquard.lab.rehearsal.operators.network.name_server import NameServer
from jacquard.lab.rehearsal.operators.programs import Programs
from jacquard.lab.rehearsal.operators.view import SIMULATED, View, simulated_secret
from jacquard.lab.rehearsal.ports import LOOPBACK
from jacquard.lab.rehearsal.region import MANAGEMENT, Region
from jacquard.providers.kube import ApiServer, ObjectRef
from tests.support.add_ons.chart_values import values_of
from tests.support.add_ons.helm_charts import Helm
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.local_regions.local_region import wait_until

CHART = "external-dns"


class ExternalDns:
    """Releases of ExternalDNS at an API server, and the name server of a local region that their pods write to."""

    def __init__(self, server: LocalApiServer, helm: Helm, region: Region) -> None:
        self.api = server.api
        self._helm, self._region = helm, region
        self._mirror = Mirror(self.api, ApiServer.from_kubeconfig(server.kubeconfig, connections=CONNECTIONS))
        self._names = NameServer(region.folder, {SIMULATED: SIMULATED})
        self._programs = Programs(region, self._names)

    def apply(self, body: Mapping[str, Any]) -> None:
        """Create or update an object."""
        self.api.apply(body, field_manager="test", force=True)

    def definitions(self, release: Manifest) -> list[dict[str, Any]]:
        """Return the CRDs of the chart of ``release``."""
        spec = release.body["spec"]
        made = self._helm.template(CHART, spec["releaseName"], spec["targetNamespace"], values_of(release))
        return [body for body in made if body["kind"] == KIND]

    def install(self, release: Manifest, key_secret: str) -> None:
        """Create the objects of a release with the Secret of its key, and a running pod."""
        spec = release.body["spec"]
        name, namespace = spec["releaseName"], spec["targetNamespace"]
        self.apply(simulated_secret(key_secret, namespace, ["keyname", "secret"]))
        made = self._helm.template(CHART, name, namespace, values_of(release))
        for body in (one for one in made if one["kind"] != KIND):
            self.apply({**body, "metadata": {"namespace": namespace, **body["metadata"]}})
            if body["kind"] == "Deployment":
                self._run(name, namespace, body["spec"]["template"])

    def wait(self, reached: Callable[[], bool], what: str) -> None:
        """Wait until ``reached``, while the pods run.

        Raises:
            AssertionError: it is not reached in time; with ``what``.
        """

        def looked() -> bool:
            running = processes.running(self._region.folder)
            self._programs.reconcile(MANAGEMENT, View(self.api, self._mirror), running)
            return reached()

        wait_until(looked, timeout_seconds=60, what=what)

    def write(self, zone: str, name: str, kind: str, content: str) -> None:
        """Write a record to the name server, as a user with the key could."""
        keys = dns.tsigkeyring.from_text({SIMULATED: SIMULATED})
        message = dns.update.UpdateMessage(zone, keyring=keys, keyalgorithm="hmac-sha256")
        message.add(name, 60, kind, content)
        dns.query.tcp(message, LOOPBACK, timeout=10, port=self._names.port)

    def _run(self, name: str, namespace: str, template: dict[str, Any]) -> None:
        """Create a running pod, as controllers and kubelets do."""
        metadata = {**template["metadata"], "name": name, "namespace": namespace}
        self.apply({"apiVersion": "v1", "kind": "Pod", **template, "metadata": metadata})
        ref = ObjectRef("v1", "Pod", name, namespace)
        self.api.patch(ref, {"status": {"phase": "Running"}}, subresource="status", field_manager="test")
