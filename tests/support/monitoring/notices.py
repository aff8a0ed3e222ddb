"""Real vmalert and Alertmanager between a store and receivers on this machine, with time in fast motion.

Durations of rules and routes are a fifteenth of what is rendered: a minute takes four seconds. Two instances of
each program run, as in a region. One more vmalert stands for Prometheus of the management cluster, which evaluates the
PrometheusRules.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import threading
import time
from collections.abc import Iterable, Mapping
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from components.render.manifest import Manifest
from components.render.region import alert_routes, metrics_store
from jacquard.lab.rehearsal import ports
from jacquard.lab.rehearsal.monitoring.durations import faster
from jacquard.lab.toolchain import binaries
from tests.support.local_regions.local_region import wait_until
from tests.support.machine.programs import Programs
from tests.support.monitoring import telemetry
from tests.support.monitoring.victoria_stores import VictoriaStores, is_healthy, request

FASTER = 15
Series = tuple[tuple[str, str], ...]


class Receivers:
    """Receivers of notices: the last part of the path of each webhook is the name of a receiver."""

    def __init__(self) -> None:
        self.notices: list[tuple[str, dict[str, Any]]] = []
        self._server = ThreadingHTTPServer((ports.LOOPBACK, 0), _handler(self.notices))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def url(self, name: str) -> str:
        return f"http://{ports.LOOPBACK}:{self._server.server_port}/{name}"

    def of(self, name: str) -> list[tuple[str, str, int]]:
        """Return status, name of the alert and number of alerts of each notice that a receiver has got."""
        got = (notice for receiver, notice in list(self.notices) if receiver == name)
        return [(one["status"], one["groupLabels"]["alertname"], len(one["alerts"])) for one in got]

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(notices: list[tuple[str, dict[str, Any]]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            notices.append((self.path.rpartition("/")[2], body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    return Handler


class Agents:
    """Agents of clusters, and Prometheus of the management cluster: they write their series each second."""

    def __init__(self, stores: VictoriaStores) -> None:
        self._stores = stores
        self._series: dict[tuple[str, Series], float] = {}
        self._counters: set[tuple[str, Series]] = set()
        self._login = cache(stores.login)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def set(self, cluster: str, metric: str, value: float, /, **labels: str) -> None:
        """Write a series of a cluster from now on, ``management`` for the management cluster."""
        self._series[cluster, (("__name__", metric), *labels.items())] = value

    def count(self, cluster: str, metric: str, /, **labels: str) -> None:
        """Write a counter that grows by one each second from now on."""
        self.set(cluster, metric, 0.0, **labels)
        self._counters.add((cluster, (("__name__", metric), *labels.items())))

    def end(self, cluster: str) -> None:
        """Stop the agent of a cluster."""
        self._series = {key: value for key, value in self._series.items() if key[0] != cluster}

    def await_written(self) -> None:
        """Wait until the store has a sample of each series."""
        query = f"{self._stores.store_url}/api/v1/query?query=count({{__name__=~'.%2B'}})"

        def written() -> bool:
            found = json.loads(request(query).text)["data"]["result"]
            return bool(found) and int(found[0]["value"][1]) >= len(self._series)

        wait_until(written, timeout_seconds=60, what=f"{len(self._series)} series are in the store")

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _write(self) -> None:
        headers = {"Content_Type": "application/x-protobuf", "Content_Encoding": "snappy"}
        while not self._ended.wait(1.0):
            by_cluster: dict[str, list[tuple[Series, float]]] = {}
            for (cluster, series), value in list(self._series.items()):
                if (cluster, series) in self._counters:
                    self._series[cluster, series] = value + 1
                by_cluster.setdefault(cluster, []).append((series, value))
            for cluster, found in by_cluster.items():
                body = telemetry.samples(*found)
                if cluster == "management":
                    request(f"{self._stores.store_url}/api/v1/write", body, **headers)
                else:
                    self._stores.ask(metrics_store.WRITE_PATH, body, login=self._login(cluster), **headers)


class Alerting:
    """The programs that evaluate rules and send notices; `stop` ends them."""

    def __init__(
        self,
        folder: Path,
        stores: VictoriaStores,
        routes: Mapping[str, Any],
        rules: Iterable[Manifest],
        hooks: Receivers,
    ) -> None:
        self._folder, self._stores, self._programs = folder, stores, Programs(folder)
        self._paths = {name: str(binaries.path(name)) for name in ("vmalert", "alertmanager")}
        try:
            addresses = self._alertmanagers(faster(dict(routes), FASTER), hooks)
            written = stores.get("v1", "ConfigMap", "vm-metrics-rulefiles-0", "monitoring")["binaryData"]
            packed = (gzip.decompress(base64.b64decode(data)) for data in written.values())
            of_store = [yaml.safe_load(data)["groups"] for data in packed]
            of_management = [item.body["spec"]["groups"] for item in rules]
            for name, groups in (("store-0", of_store), ("store-1", of_store), ("management", of_management)):
                self._evaluate(name, groups, addresses)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        self._programs.stop()

    def _alertmanagers(self, routes: dict[str, Any], hooks: Receivers) -> list[str]:
        """Start two instances that share notifications, and return their addresses."""
        text = yaml.safe_dump(routes)
        for name in re.findall(rf"{alert_routes.MOUNTS}/([\w-]+)/url", text):
            (self._folder / name).mkdir(exist_ok=True)
            (self._folder / name / "url").write_text(hooks.url(name))
        file = self._folder / "alertmanager.yaml"
        file.write_text(text.replace(alert_routes.MOUNTS, str(self._folder)))
        web, peers = ports.free(4)[:2], ports.free(2)
        for index in range(alert_routes.REPLICAS):
            self._programs.start(
                f"alertmanager-{index}",
                self._paths["alertmanager"],
                f"--config.file={file}",
                f"--storage.path={self._folder / f'alertmanager-{index}'}",
                f"--web.listen-address={ports.LOOPBACK}:{web[index]}",
                f"--cluster.listen-address={ports.LOOPBACK}:{peers[index]}",
                f"--cluster.peer={ports.LOOPBACK}:{peers[1 - index]}",
                "--cluster.settle-timeout=1s",
                "--cluster.peer-timeout=2s",
            )
        return [f"http://{ports.LOOPBACK}:{port}" for port in web]

    def _evaluate(self, name: str, files: list[list[dict[str, Any]]], notifiers: list[str]) -> None:
        """Start vmalert with the arguments of the operator, except addresses, files and intervals."""
        (folder := self._folder / name).mkdir()
        for index, groups in enumerate(files):
            body = {"groups": [{**faster(group, FASTER), "interval": "1s"} for group in groups]}
            (folder / f"{index}.yaml").write_text(yaml.safe_dump(body))
        [port] = ports.free(1)
        replaced = {
            "-datasource.url": self._stores.store_url,
            "-notifier.url": ",".join(notifiers),
            "-remoteWrite.url": self._stores.store_url,
            "-remoteRead.url": self._stores.store_url,
            "-httpListenAddr": f"{ports.LOOPBACK}:{port}",
            "-rule": f"{folder}/*.yaml",
        }
        given = self._stores.arguments("vmalert-metrics")
        kept = [text for text in given if text.partition("=")[0] not in replaced]
        own = [f"{key}={value}" for key, value in replaced.items()]
        self._programs.start(name, self._paths["vmalert"], *kept, *own, "-rule.evalDelay=1s", "-rule.resendDelay=2s")
        wait_until(lambda: is_healthy(f"{ports.LOOPBACK}:{port}"), timeout_seconds=60, what=f"{name} evaluates rules")


def minutes(count: float) -> None:
    """Wait for minutes of the region."""
    time.sleep(count * 60 / FASTER)
