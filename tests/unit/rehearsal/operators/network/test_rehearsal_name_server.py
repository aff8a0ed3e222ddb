"""The name server of a local region: accepted updates, its responses, and persistence after its process ends."""

from __future__ import annotations

from pathlib import Path

import dns.inet
import dns.message
import dns.name
import dns.query
import dns.rcode
import dns.tsigkeyring
import dns.update
import dns.zone
import pytest

from jacquard.lab.rehearsal.operators.network.name_server import ZONES, NameServer
from jacquard.lab.rehearsal.operators.view import SIMULATED
from jacquard.lab.rehearsal.ports import LOOPBACK

ORIGIN = "here.example"
KEY = {SIMULATED: SIMULATED}
KEYRING = dns.tsigkeyring.from_text(KEY)
OTHERS = dns.tsigkeyring.from_text({SIMULATED: "YW5vdGhlcg=="})


def update(keyring: object = KEYRING, algorithm: str = "hmac-sha256") -> dns.update.UpdateMessage:
    return dns.update.UpdateMessage(ORIGIN, keyring=keyring, keyalgorithm=algorithm)


def send(server: NameServer, message: dns.message.Message) -> str:
    return dns.rcode.to_text(dns.query.tcp(message, LOOPBACK, timeout=5, port=server.port).rcode())


def names(server: NameServer) -> list[str]:
    """Return the records of the zone from a transfer, without those of every zone."""
    zone = dns.zone.Zone(ORIGIN, relativize=False)
    asked = dns.message.make_query(ORIGIN, "AXFR")
    asked.use_tsig(KEYRING)
    dns.query.inbound_xfr(LOOPBACK, zone, asked, port=server.port, timeout=5)
    return sorted(
        f"{name} {one.rdtype.name} {data}"
        for name, one in zone.iterate_rdatasets()
        for data in one
        if one.rdtype.name not in {"SOA", "NS"}
    )


@pytest.fixture
def server(tmp_path: Path) -> NameServer:
    return NameServer(tmp_path, KEY)


@pytest.mark.parametrize("algorithm", ["hmac-sha256", "hmac-sha384", "hmac-sha512"])
def test_a_signed_update_is_accepted_and_part_of_a_transfer(server: NameServer, algorithm: str) -> None:
    asked = update(algorithm=algorithm)
    asked.add("web.acme", 60, "A", "10.65.0.1", "10.65.0.2")
    asked.add("owner-a.web.acme", 60, "TXT", '"heritage=external-dns"')

    assert send(server, asked) == "NOERROR"
    assert names(server) == [
        f'owner-a.web.acme.{ORIGIN}. TXT "heritage=external-dns"',
        f"web.acme.{ORIGIN}. A 10.65.0.1",
        f"web.acme.{ORIGIN}. A 10.65.0.2",
    ]


def test_records_go_one_by_one_or_all_of_a_type_and_the_zone_outlives_its_process(
    server: NameServer, tmp_path: Path
) -> None:
    begun = update()
    begun.add("a", 60, "A", "10.65.0.1", "10.65.0.2")
    begun.add("b", 60, "A", "10.65.0.3")
    send(server, begun)
    gone = update()
    gone.delete("a", "A", "10.65.0.1")
    gone.delete("b", "A")
    again = NameServer(tmp_path, KEY)

    assert send(again, gone) == "NOERROR"
    assert names(again) == [f"a.{ORIGIN}. A 10.65.0.2"]


def test_other_kinds_of_records_and_names_of_another_zone_are_refused_as_a_whole(server: NameServer) -> None:
    alias, elsewhere = update(), update()
    for asked in (alias, elsewhere):
        asked.add("web", 60, "A", "10.65.0.1")
    alias.add("www", 60, "CNAME", "web")
    elsewhere.add("web.there.example.", 60, "A", "10.65.0.1")

    assert [send(server, asked) for asked in (alias, elsewhere)] == ["REFUSED", "REFUSED"]
    assert names(server) == []


def test_unsigned_requests_are_rejected_and_wrong_keys_get_no_response(server: NameServer) -> None:
    unsigned, theirs = update(keyring=None), update(keyring=OTHERS)
    for asked in (unsigned, theirs):
        asked.add("web", 60, "A", "10.65.0.1")

    assert send(server, unsigned) == "REFUSED"
    with pytest.raises(EOFError):
        send(server, theirs)
    assert names(server) == []


def test_zones_can_be_delegated(server: NameServer, tmp_path: Path) -> None:
    asked = update()
    asked.add("one", 300, "NS", "ns.provider.example.")

    assert send(server, asked) == "NOERROR"
    assert f"one.{ORIGIN}. 300 IN NS ns.provider.example." in (tmp_path / ZONES / ORIGIN).read_text()
