"""A new cluster is usable when its API server is ready and its controller manager works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.rehearsal import kubeconfigs
from jacquard.providers.kube import ApiError


class Server:
    """An API server with configurable readiness, and the objects of its controllers."""

    def __init__(self, *, is_ready: bool = True, account: Any = None) -> None:
        self.is_ready = is_ready
        self.account = account

    def from_kubeconfig(self, *_: object, **__: object) -> Server:
        return self

    def request(self, *_: object) -> None:
        if not self.is_ready:
            raise ApiError(500, "InternalError", "not yet")

    def get(self, _: object) -> Any:
        return self.account

    def close(self) -> None:
        """Nothing to close."""


@pytest.mark.parametrize(
    "server", [Server(is_ready=False, account={}), Server()], ids=["not ready", "nobody controls it"]
)
def test_a_cluster_is_controlled_after_a_controller_has_created_an_object(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubeconfigs, "ApiServer", server)

    assert not kubeconfigs.controlled(Path("kubeconfig.yaml"))


def test_a_cluster_with_an_account_is_controlled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubeconfigs, "ApiServer", Server(account={"kind": "ServiceAccount"}))

    assert kubeconfigs.controlled(Path("kubeconfig.yaml"))
