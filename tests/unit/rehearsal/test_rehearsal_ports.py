"""Choosing ports."""

from __future__ import annotations

import socket

import pytest

from jacquard.lab.rehearsal import ports
from jacquard.lab.rehearsal.errors import RehearsalError


def test_a_port_that_is_listened_on_is_not_free() -> None:
    with socket.socket() as server:
        server.bind((ports.LOOPBACK, 0))
        server.listen()

        assert not ports.is_free(server.getsockname()[1])


def test_chosen_ports_differ_and_are_free() -> None:
    chosen = ports.free(6)

    assert len(set(chosen)) == 6
    assert all(ports.is_free(port) for port in chosen)


def test_no_free_port_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "is_free", lambda _: False)

    with pytest.raises(RehearsalError) as caught:
        ports.free(6)

    assert str(caught.value) == (
        "ports 20000-31999 on 127.0.0.1: 6 free ports required, 0 found; stop other programs that listen there"
    )
