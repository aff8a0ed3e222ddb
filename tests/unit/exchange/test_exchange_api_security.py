"""The token of an API goes to a verified server only, over an encrypted connection."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from components.specs.environment import Environment
from jacquard.exchange.api_connection import address_problem, authority_problem, is_token
from tests.support.exchange.fake_inventory import TOKEN, TOKEN_OF_4_5, FakeInventory
from tests.support.exchange.inventory_reader import failure, read

Serve = Callable[..., FakeInventory]


def openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A self-signed certificate for this machine's address, and its key."""
    crt, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    options = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=netbox")
    openssl("req", "-x509", *options, "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(crt))
    return crt, key


def test_a_server_is_verified_by_the_named_authority(
    serve: Serve, region: Environment, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve("netbox", certificate=certificate)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/does/not/exist")  # The option has priority.

    assert len(read(server, authority=certificate[0])) == len(region.hosts)

    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    assert failure(server) == (
        "NetBox at URL has no trusted certificate (self-signed certificate (_ssl.c:1006)); name a file with the"
        " certificate of its CA by --ca-file"
    )


def test_a_file_without_a_certificate_is_not_an_authority(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("")

    assert authority_problem(certificate[0]) is None
    for file in (empty, certificate[1]):
        assert authority_problem(file) == "contains no certificate of a CA; write it in PEM form"
    assert authority_problem(tmp_path / "none.pem") == "cannot be read: no such file or directory; name another file"


def test_addresses_that_would_expose_the_token_are_rejected() -> None:
    needs = "must be the address of NetBox or Nautobot (got {}); write it like https://netbox.example"

    assert {url: address_problem(url) for url in ("https://netbox.example/netbox/", "http://127.0.0.1:8000")} == {
        "https://netbox.example/netbox/": None,
        "http://127.0.0.1:8000": None,
    }
    assert address_problem("http://netbox.example") == (
        "would send the token without encryption (got 'http://netbox.example'); write https://"
    )
    assert address_problem("https://bot:hunter2@netbox.example") == (
        "must not contain a login; pass the token by --token-env"
    )
    for url in ("netbox.example", "https://netbox.example#b", "https://", "ftp://netbox.example", "https://x:y"):
        assert address_problem(url) == needs.format(f"'{url}'")


def test_a_token_has_no_blanks_and_line_breaks() -> None:
    assert [is_token(text) for text in (TOKEN, TOKEN_OF_4_5, "", "a b", "a\nb", "ä")] == [True, True, *[False] * 4]
