"""Records in the log store, as the tenant of a cluster reads them through the proxy."""

from __future__ import annotations

import json
from urllib.parse import urlencode

from tests.support.local_regions.local_region import wait_until
from tests.support.monitoring.victoria_stores import VictoriaStores


def logged(stores: VictoriaStores, cluster: str, query: str = "*", **headers: str) -> list[dict[str, str]]:
    """Return the records that the tenant of a cluster can read."""
    asked = urlencode({"query": query}).encode()
    answer = stores.ask("/select/logsql/query", asked, login=stores.login(cluster), **headers)
    assert answer.status == 200, answer
    return [json.loads(line) for line in answer.text.splitlines()]


def found_record(stores: VictoriaStores, message: str, *, cluster: str = "acme-train") -> dict[str, str]:
    """Wait for a record in the logs of the tenant of a cluster, and return it."""

    def arrived() -> bool:
        return any(item["_msg"] == message for item in logged(stores, cluster))

    wait_until(arrived, timeout_seconds=60, what=f"the record {message!r} arrives")
    return next(item for item in logged(stores, cluster) if item["_msg"] == message)
