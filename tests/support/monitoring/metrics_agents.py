"""Real Prometheus in agent mode with rendered targets of remote write, an exporter, and the sink of a tenant.

prometheus-operator does not run: `_target` writes the fields of ``remoteWrite`` as the operator does
(PO:pkg/prometheus/promcfg.go generateRemoteWriteConfig), with keys of Secrets as text. The sink is VictoriaMetrics
behind vmauth with TLS, which accepts one token.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml

from components.render.add_ons.add_on_values import VALUES
from components.render.add_ons.metrics_writer import CHART, MetricsWriter
from components.render.manifest import Manifest
from components.specs.base import Address
from components.specs.region.metrics_sink import MetricsSinkSpec
from jacquard.lab.rehearsal import ports
from jacquard.lab.toolchain import binaries
from tests.support.add_ons.cluster_shape import facts
from tests.support.local_regions.local_region import wait_until
from tests.support.machine.programs import Programs
from tests.support.monitoring.store_authority import StoreAuthority
from tests.support.monitoring.stored_region import CLUSTERS, region
from tests.support.monitoring.victoria_stores import VictoriaStores, is_healthy, request

_SECONDS = 60


class Exporter:
    """Exporter whose metrics are ``values``."""

    def __init__(self, **values: float) -> None:
        self.values = values
        exporter = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = "".join(f"{name} {value}\n" for name, value in exporter.values.items()).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer((ports.LOOPBACK, 0), Handler)
        self.address = f"{ports.LOOPBACK}:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def series(url: str, query: str) -> list[dict[str, Any]]:
    """Return the result of an instant query at a store."""
    answer = request(f"{url}/api/v1/query?query={quote(query)}")
    found: list[dict[str, Any]] = json.loads(answer.text)["data"]["result"]
    return found


class Sink:
    """Sink of a tenant at ``url``; queries of what it has got are at ``store_url``."""

    def __init__(self, folder: Path, certificates: list[Manifest], token: str) -> None:
        folder.mkdir()
        self.authority = StoreAuthority(folder / "authority", certificates)
        self._programs = Programs(folder)
        proxy, store = (f"{ports.LOOPBACK}:{port}" for port in ports.free(2))
        self._address, self.store_url = proxy, f"http://{store}"
        self.url = f"https://{proxy}/api/v1/write"
        login = {"users": [{"bearer_token": token, "url_prefix": self.store_url}]}
        (folder / "login.yaml").write_text(yaml.safe_dump(login))
        data = [f"-httpListenAddr={store}", f"-storageDataPath={folder / 'data'}"]
        data += ["-search.latencyOffset=0s", "-inmemoryDataFlushInterval=1s"]
        self._programs.start("store", str(binaries.path("victoria-metrics")), *data)
        wait_until(lambda: is_healthy(store), timeout_seconds=_SECONDS, what="the store of the sink is healthy")
        secret = self.authority.secret
        tls = ["-tls", f"-tlsCertFile={secret / 'tls.crt'}", f"-tlsKeyFile={secret / 'tls.key'}"]
        self._proxy = [f"-httpListenAddr={proxy}", f"-auth.config={folder / 'login.yaml'}", *tls]
        self.start()

    def start(self) -> None:
        """Accept requests, also again after `kill`."""
        self._programs.start("proxy", str(binaries.path("vmauth")), *self._proxy)
        trust = self.authority.trust(self.authority.certificate)
        wait_until(lambda: is_healthy(self._address, trust), timeout_seconds=_SECONDS, what="the sink is healthy")

    def kill(self) -> None:
        """Stop to accept requests."""
        self._programs.kill("proxy")

    def stop(self) -> None:
        self._programs.stop()


class MetricsAgent:
    """Prometheus of one cluster, which scrapes itself and an exporter each second.

    Args:
        folder: Where it keeps everything.
        stores: The stores of the region.
        cluster: The cluster.
        exporter: The exporter.
        spec: The sink of its tenant.
        sink: Where the sink is on this machine.

    Raises:
        ToolchainError: Prometheus is not built.
    """

    def __init__(
        self,
        folder: Path,
        stores: VictoriaStores,
        cluster: str,
        exporter: Exporter,
        *,
        spec: MetricsSinkSpec | None = None,
        sink: Sink | None = None,
    ) -> None:
        folder.mkdir()
        self._binary = str(binaries.path("prometheus"))
        self._programs = Programs(folder)
        self.token = folder / "token"
        """File of the key ``token`` in the Secret of the sink."""
        writer = MetricsWriter(address=Address("10.3.0.249"), agent=True, sink=spec)
        shape = facts(name=cluster, tenant=CLUSTERS[cluster], region=region().region, writer=writer)
        values = VALUES[CHART](shape)["prometheus"]["prometheusSpec"]
        login = dict(zip(("username", "password"), stores.login(cluster), strict=True))
        keys = {**login, "ca": stores.authority.certificate}
        [of_region] = values["remoteWrite"]
        targets = [_target({**of_region, "url": f"{stores.url}/api/v1/write"}, keys)]
        for rendered in values.get("additionalRemoteWrite", ()):
            assert sink is not None
            found = _target({**rendered, "url": sink.url}, {})
            if "authorization" in found:
                [volume], [mount] = values["volumes"], values["volumeMounts"]
                [item] = volume["secret"]["items"]
                assert volume["name"] == mount["name"]
                assert found["authorization"]["credentials_file"] == f"{mount['mountPath']}/{item['path']}"
                found["authorization"]["credentials_file"] = str(self.token)
            targets.append(found)
        address = f"{ports.LOOPBACK}:{ports.free(1)[0]}"
        self.url = f"http://{address}"
        configuration = {
            "global": {"scrape_interval": "1s", "external_labels": dict(values["externalLabels"])},
            "scrape_configs": [
                {"job_name": "exporter", "static_configs": [{"targets": [exporter.address]}]},
                {"job_name": "prometheus", "static_configs": [{"targets": [address]}]},
            ],
            "remote_write": targets,
        }
        file = folder / "prometheus.yaml"
        file.write_text(yaml.safe_dump(configuration))
        arguments = ["--agent", f"--config.file={file}", f"--storage.agent.path={folder / 'data'}"]
        self._arguments = [*arguments, f"--web.listen-address={address}"]
        # The certificate of a sink is of a public CA.
        trusted = {}
        if sink is not None:
            (folder / "public.crt").write_text(sink.authority.certificate)
            trusted["SSL_CERT_FILE"] = str(folder / "public.crt")
        self._programs.start("prometheus", self._binary, *self._arguments, **trusted)
        wait_until(self._is_ready, timeout_seconds=_SECONDS, what=f"Prometheus of {cluster} is ready")

    def value(self, metric: str) -> float:
        """Return the sum of a metric of Prometheus itself about the sink."""
        lines = request(f"{self.url}/metrics").text.splitlines()
        found = [line for line in lines if line.startswith(f'{metric}{{remote_name="metrics-sink"')]
        assert found, f"{metric} is no metric of Prometheus"
        return sum(float(line.rpartition(" ")[2]) for line in found)

    def stop(self) -> None:
        self._programs.stop()

    def _is_ready(self) -> bool:
        try:
            return request(f"{self.url}/-/ready").status == 200
        except OSError:
            return False


def _target(rendered: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, Any]:
    """Return an entry of ``remote_write`` with the fields of ``rendered``, all of which must be known."""
    target: dict[str, Any] = {}
    for field, value in rendered.items():
        match field:
            case "url" | "name":
                target[field] = value
            case "basicAuth":
                target["basic_auth"] = {part: keys[selector["key"]] for part, selector in value.items()}
            case "tlsConfig":
                target["tls_config"] = {"ca": keys[value["ca"]["secret"]["key"]]}
            case "authorization":
                target["authorization"] = {"type": "Bearer", "credentials_file": value["credentialsFile"]}
            case "writeRelabelConfigs":
                target["write_relabel_configs"] = [
                    {"source_labels": item["sourceLabels"], "regex": item["regex"], "action": item["action"]}
                    for item in value
                ]
            case "queueConfig":
                target["queue_config"] = {"max_shards": value["maxShards"]}
            case _:
                pytest.fail(f"{field} of a target is not translated")
    return target
