"""The name server that a region writes its names to: the primary of its zones, which takes signed updates (RFC 2136).

It asks for what `docs/region/dns.md` asks of a real one: every message is signed by the key that the platform gives,
an update
is of addresses and texts alone, and a whole zone goes to whoever has the key. It listens on this machine only.
"""

from __future__ import annotations

import socketserver
import struct
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

import dns.exception
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset
import dns.tsigkeyring
import dns.update
import dns.zone

from jacquard.lab.rehearsal.operators.view import LOG
from jacquard.lab.rehearsal.ports import LOOPBACK
from jacquard.machine.files import replace_private

ZONES = "zones"
"""Folder of the zones in a region's, a file each."""
_EMPTY = "@ 60 IN SOA ns hostmaster 1 3600 600 86400 60\n@ 60 IN NS ns\n"
_TAKEN = {dns.rdatatype.A, dns.rdatatype.TXT}
"""What the key may write, as `zonesub A TXT` says to BIND."""
_LENGTH = struct.Struct("!H")
_IDLE_SECONDS = 30


class NameServer:
    """A name server that begins when somebody first asks for its port; a zone is there once somebody asks for it."""

    def __init__(self, folder: Path, keys: Mapping[str, str]) -> None:
        """Know the region's folder, and keys by name, each in base 64."""
        self._folder = folder / ZONES
        self._keys = dns.tsigkeyring.from_text(dict(keys))
        self._server: socketserver.ThreadingTCPServer | None = None
        self._one_at_a_time = threading.Lock()

    @property
    def port(self) -> int:
        """Return where it listens on this machine."""
        if self._server is None:
            self._server = _Server(self)
            threading.Thread(target=self._server.serve_forever, name="name server", daemon=True).start()
        return int(self._server.server_address[1])

    def answer(self, wire: bytes) -> bytes | None:
        """Return the answer to a message; None to one that is none, or is signed by another key."""
        try:
            asked = dns.message.from_wire(wire, keyring=self._keys)
            answer = dns.message.make_response(asked)
        except dns.exception.DNSException as error:
            LOG.warning("name server: %s: %s", type(error).__name__, error)
            return None
        with self._one_at_a_time:
            answer.set_rcode(self._done(asked, answer) if asked.had_tsig else dns.rcode.REFUSED)
        return answer.to_wire(max_size=2**16 - 1)

    def _done(self, asked: dns.message.Message, answer: dns.message.Message) -> dns.rcode.Rcode:
        origin = asked.question[0].name
        path = self._folder / origin.to_text(omit_final_dot=True)
        text = path.read_text(encoding="utf-8") if path.exists() else _EMPTY
        zone = dns.zone.from_text(text, origin, relativize=False)
        if asked.opcode() == dns.opcode.UPDATE:
            changes = cast("dns.update.UpdateMessage", asked).update
            if any(one.rdtype not in _TAKEN or not one.name.is_subdomain(origin) for one in changes):
                return dns.rcode.REFUSED
            _update(zone, changes)
            replace_private(path, zone.to_text(relativize=False))
        elif asked.question[0].rdtype == dns.rdatatype.AXFR:
            answer.answer = _whole(zone, origin)
        else:
            return dns.rcode.NOTIMP
        return dns.rcode.NOERROR


def _update(zone: dns.zone.Zone, changes: Iterable[dns.rrset.RRset]) -> None:
    """Do what an update says, each record by itself and in its order (RFC 2136, 3.4.2)."""
    with zone.writer() as writer:
        for one in changes:
            if one.deleting is None:
                writer.add(one)
            elif one.deleting == dns.rdataclass.ANY:
                writer.delete(one.name, one.rdtype)
            else:
                writer.delete(one)


def _whole(zone: dns.zone.Zone, origin: dns.name.Name) -> list[dns.rrset.RRset]:
    """Return a zone between two copies of its first record, as a transfer has it (RFC 5936)."""
    first = zone.find_rrset(origin, dns.rdatatype.SOA)
    records = [dns.rrset.from_rdata_list(name, sets.ttl, list(sets)) for name, sets in zone.iterate_rdatasets()]
    return [first, *(one for one in records if one.rdtype != dns.rdatatype.SOA), first]


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, names: NameServer) -> None:
        super().__init__((LOOPBACK, 0), _Connection)
        self.names = names


class _Connection(socketserver.StreamRequestHandler):
    """Messages of one who asks, one after the other, each after its length."""

    timeout = _IDLE_SECONDS

    def handle(self) -> None:
        names = cast("_Server", self.server).names
        while len(length := self.rfile.read(_LENGTH.size)) == _LENGTH.size:
            answer = names.answer(self.rfile.read(*_LENGTH.unpack(length)))
            if answer is None:
                return
            self.wfile.write(_LENGTH.pack(len(answer)) + answer)
