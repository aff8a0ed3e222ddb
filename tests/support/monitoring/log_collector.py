"""A real OpenTelemetry Collector with our configuration.

Its distribution is built here without the receiver of events, and a script stands for ``journalctl``, which the
receiver of the journal runs in the file system of the node (``root_path``).
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from components.render.region.logs import collector
from components.render.region.stores.store_certificates import AUTHORITY_KEY
from components.specs.region.log_sink import LogSinkSpec
from jacquard.lab.rehearsal import ports
from jacquard.lab.toolchain import binaries
from tests.support.machine.programs import Programs
from tests.support.monitoring.victoria_stores import request


def _set(values: dict[str, Any], path: str, value: str) -> None:
    """Set a value as Flux does (``targetPath``)."""
    *keys, last = path.split(".")
    for key in keys:
        values = values.setdefault(key, {})
    values[last] = value


class Collector:
    """A real collector on a node, with our configuration and the receiver of files of the chart's preset.

    Args:
        folder: Where it keeps everything.
        url: Address of the proxy of the stores.
        login: User name and password.
        authority: Certificate of the CA of the proxy; empty if it was not delivered.
        management: Whether its node is a host of the management cluster; `host` is then the file system of the host.
        sink: Sink of the tenant.
        sink_url: Address of the sink on this machine.
        variables: Further variables of its environment, as those of a Secret.
    """

    def __init__(
        self,
        folder: Path,
        url: str,
        login: tuple[str, str],
        *,
        authority: str = "",
        management: bool = False,
        sink: LogSinkSpec | None = None,
        sink_url: str = "",
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._management, self.host, self._authority = management, folder / "host", authority
        self._sink, self._sink_url = sink, sink_url
        self._program, self._programs = str(binaries.path("otelcol")), Programs(folder)
        self.folder, self._file = folder, folder / "collector.yaml"
        self._health, self._metrics = ports.free(2)
        journalctl = folder / "journalctl"
        journalctl.write_text(f"#!/bin/sh\ncat {folder / 'journal.json'} 2>/dev/null\nexec sleep 3600\n")
        journalctl.chmod(0o755)
        self._file.write_text(yaml.safe_dump(self._configuration(url, login[0])))
        pod = {"STORE_PASSWORD": login[1], "OTEL_K8S_NODE_NAME": "node-7", "MY_POD_IP": ports.LOOPBACK}
        self._variables = {**pod, **(variables or {})}

    def _configuration(self, url: str, username: str) -> dict[str, Any]:
        """Return our configuration, with addresses and folders of this machine, and what the presets add."""
        writer = collector.LogsWriter(
            url=url, username=username, password_secret="unused", same_cluster=self._management, sink=self._sink
        )
        values = collector.values(writer)
        for source in collector.delivered(writer, collector.CHART):
            if source["valuesKey"] == AUTHORITY_KEY and self._authority:
                _set(values, source["targetPath"], self._authority)
        found: dict[str, Any] = values["alternateConfig"]
        if self._sink:
            found["exporters"][collector.SINK]["logs_endpoint"] = self._sink_url
        found["extensions"]["health_check"]["endpoint"] = f"{ports.LOOPBACK}:{self._health}"
        found["extensions"]["file_storage"] = {"directory": str(self.folder / "positions"), "create_directory": True}
        found["receivers"]["journald"] |= {"journalctl_path": str(self.folder / "journalctl")}
        del found["receivers"]["journald"]["root_path"]
        for receiver in found["receivers"].values():
            for index, path in enumerate(receiver.get("include", ())):
                receiver["include"][index] = path.replace("/host", str(self.host), 1)
        found["receivers"]["filelog"] = {
            "include": [str(self.folder / "pods/*/*/*.log")],
            "start_at": "beginning",
            "include_file_path": True,
            "storage": "file_storage",
            "retry_on_failure": {"enabled": True},
            "operators": [{"id": "container-parser", "type": "container"}],
        }
        [reader] = found["service"]["telemetry"]["metrics"]["readers"]
        reader["pull"]["exporter"]["prometheus"]["port"] = self._metrics
        found["service"]["extensions"].append("file_storage")
        found["service"]["pipelines"]["logs"]["receivers"].append("filelog")
        return found

    def check(self) -> subprocess.CompletedProcess[str]:
        """Have the collector check its configuration."""
        command = [self._program, "validate", f"--config={self._file}"]
        variables = {**os.environ, **self._variables}
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)

    def start(self) -> None:
        self._programs.start("collector", self._program, f"--config={self._file}", **self._variables)

    def kill(self) -> None:
        """End the collector at once, as the loss of its node does."""
        self._programs.kill("collector")

    def stop(self) -> None:
        self._programs.stop()

    def journal(self, unit: str, message: str) -> None:
        """Write the entry that ``journalctl`` prints."""
        entry = {"_SYSTEMD_UNIT": unit, "MESSAGE": message, "PRIORITY": "6", "__CURSOR": "s=1;i=1"}
        moment = {"__REALTIME_TIMESTAMP": str(time.time_ns() // 1000), "__MONOTONIC_TIMESTAMP": "1"}
        (self.folder / "journal.json").write_text(json.dumps(entry | moment) + "\n")

    def metrics(self) -> str:
        return request(f"http://{ports.LOOPBACK}:{self._metrics}/metrics").text

    def write(self, *messages: str) -> None:
        """Write lines of a container, as containerd does."""
        file = self.folder / "pods" / "train_job-0_0d5f" / "main" / "0.log"
        file.parent.mkdir(parents=True, exist_ok=True)
        now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
        with file.open("a") as log:
            log.writelines(f"{now}.000000000Z stdout F {message}\n" for message in messages)
