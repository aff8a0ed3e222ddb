"""Monitoring of a local region: the proxy answers for exporters, and the receiver records notices."""

from __future__ import annotations

import json
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import ProxyHandler, Request, build_opener

from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.monitoring import configuration, server


def answered(address: str, url: str, body: bytes | None = None) -> tuple[int, str]:
    """Send a request as Prometheus does through its proxy, or to the receiver."""
    handlers = [] if body else [ProxyHandler({"http": f"http://{address}"})]
    opener = build_opener(*handlers)
    opener.addheaders = []
    try:
        with opener.open(Request(url, body), timeout=10) as answer:  # noqa: S310
            return answer.status, answer.read().decode()
    except OSError as error:
        return getattr(error, "code", 0), error.read().decode() if hasattr(error, "read") else ""


def test_the_proxy_answers_for_an_address_that_does_not_exist(tmp_path: Path) -> None:
    def exporters(query: Any) -> str:
        if query["node"] == "gone":
            msg = "node 'gone' of c is not ready"
            raise RehearsalError(msg)
        return f"up_{query['node']} 1\n"

    running = server.start(0, exporters, tmp_path / "notices")
    address = f"127.0.0.1:{running.server_port}"
    try:
        url = "http://10.64.0.3:9400/metrics?exporter=dcgm-exporter&cluster=c&node="
        assert answered(address, f"{url}a") == (HTTPStatus.OK, "up_a 1\n")
        assert answered(address, f"{url}gone") == (HTTPStatus.SERVICE_UNAVAILABLE, "node 'gone' of c is not ready\n")
    finally:
        running.shutdown()
        running.server_close()


def test_each_notice_is_a_line_with_its_receiver(tmp_path: Path) -> None:
    file = tmp_path / "notices"
    running = server.start(0, lambda _: "", file)
    alert = {"status": "firing", "labels": {"node": "a"}, "annotations": {"summary": "s"}, "fingerprint": "f"}
    body = json.dumps({"status": "firing", "alerts": [alert], "externalURL": "u"}).encode()
    try:
        for receiver in ("operators/on-call", "tenant/acme/team"):
            url = f"http://127.0.0.1:{running.server_port}{configuration.NOTICES}{quote(receiver, safe='')}"
            assert answered("", url, body) == (HTTPStatus.OK, "")
    finally:
        running.shutdown()
        running.server_close()

    found = [json.loads(line) for line in file.read_text().splitlines()]
    assert [notice["receiver"] for notice in found] == ["operators/on-call", "tenant/acme/team"]
    assert all(notice["time"].endswith("+00:00") for notice in found)
    kept = {"status": "firing", "labels": {"node": "a"}, "annotations": {"summary": "s"}}
    assert [(notice["status"], notice["alerts"]) for notice in found] == [("firing", [kept])] * 2
