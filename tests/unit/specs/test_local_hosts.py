"""Host names and addresses that refer to the local machine, its link, or a metadata service."""

from __future__ import annotations

import pytest

from components.specs.local_hosts import local_host, with_server


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("https://[::1]/x", "a loopback address, the machine of each client itself"),
        ("https://[fd00:ec2::254]/latest", "an address of a metadata service"),
        ("https://[fe80::1]:8443/", "a link-local address"),
        ("https://[::ffff:169.254.169.254]/", "a link-local address, used by metadata services"),
        ("https://0xa9fea9fe/", "a link-local address, used by metadata services"),
        ("https://127.1/", "a loopback address, the machine of each client itself"),
        ("ssh://git@localhost./x.git", "a name of the machine of each client itself"),
        ("registry.localhost:5000/x", "a name of the machine of each client itself"),
        ("METADATA.google.internal", "a name of the machine of each client itself"),
        ("https://0.0.0.0/", "no address of a server"),
    ],
)
def test_hosts_that_are_no_servers_are_recognised_in_every_notation(url: str, why: str) -> None:
    assert local_host(url) == why

    with pytest.raises(ValueError, match="has a host that is"):
        with_server(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://images.cloud.example/a@b",
        "https://10.0.0.1:8443/x",
        "oci://localhost.cloud.example/charts/x",
        "registry.cloud.example:5000/x",
        "https://[2001:db8::1]/",
        "https://example/127.0.0.1",
    ],
)
def test_servers_are_accepted(url: str) -> None:
    assert with_server(url) == url
