"""Simulated primary name server of a region's zones, with signed dynamic updates (RFC 2136).

The server has the requirements that `docs/region/dns.md` lists for a real name server: each message is signed with the
key of the platform, updates contain only addresses, texts and delegations, and zone transfers require the key. The
server listens on this machine only.
"""

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
"""Folder in a region's folder with a file for each zone."""
_EMPTY = "@ 60 IN SOA ns hostmaster 1 3600 600 86400 60\n@ 60 IN NS ns\n"
_TAKEN = {dns.rdatatype.A, dns.rdatatype.TXT, dns.rdatatype.NS}
"""Record types that the key may update, like BIND's `zonesub A TXT NS`, which only the zone of the fleet needs."""
_LENGTH = struct.Struct("!H")
_IDLE_SECONDS = 30


class NameServer:
    """A name server that starts on first use of its port, and creates a zone on the first request for the zone."""

    def __init__(self, folder: Path, keys: Mapping[str, str]) -> None:
        """Set the region's folder and the keys by name, in base64."""
        self._folder = folder / ZONES
        self._keys = dns.tsigkeyring.from_text(dict(keys))
        self._server: socketserver.ThreadingTCPServer | None = None
        self._one_at_a_time = threading.Lock()

    @property
    def port(self) -> int:
        """Return the port on this machine; start the server on first use."""
        if self._server is None:
            self._server = _Server(self)
            threading.Thread(target=self._server.serve_forever, name="name server", daemon=True).start()
        return int(self._server.server_address[1])

    def answer(self, wire: bytes) -> bytes | None:
        """Return the response to a message; None for invalid messages and unknown keys."""
        try:
            request = dns.message.from_wire(wire, keyring=self._keys)
            answer = dns.message.make_response(request)
        except dns.exception.DNSException as error:
            LOG.warning("name server: %s: %s", type(error).__name__, error)
            return None
        with self._one_at_a_time:
            answer.set_rcode(self._process(request, answer) if request.had_tsig else dns.rcode.REFUSED)
        return answer.to_wire(max_size=2**16 - 1)

    def _process(self, request: dns.message.Message, answer: dns.message.Message) -> dns.rcode.Rcode:
        origin = request.question[0].name
        path = self._folder / origin.to_text(omit_final_dot=True)
        text = path.read_text(encoding="utf-8") if path.exists() else _EMPTY
        zone = dns.zone.from_text(text, origin, relativize=False)
        if request.opcode() == dns.opcode.UPDATE:
            changes = cast("dns.update.UpdateMessage", request).update
            if any(record.rdtype not in _TAKEN or not record.name.is_subdomain(origin) for record in changes):
                return dns.rcode.REFUSED
            _update(zone, changes)
            replace_private(path, zone.to_text(relativize=False))
        elif request.question[0].rdtype == dns.rdatatype.AXFR:
            answer.answer = _whole(zone, origin)
        else:
            return dns.rcode.NOTIMP
        return dns.rcode.NOERROR


def _update(zone: dns.zone.Zone, changes: Iterable[dns.rrset.RRset]) -> None:
    """Apply an update record by record, in order (RFC 2136, 3.4.2)."""
    with zone.writer() as writer:
        for record in changes:
            if record.deleting is None:
                writer.add(record)
            elif record.deleting == dns.rdataclass.ANY:
                writer.delete(record.name, record.rdtype)
            else:
                writer.delete(record)


def _whole(zone: dns.zone.Zone, origin: dns.name.Name) -> list[dns.rrset.RRset]:
    """Return the records of a zone transfer: all records between two copies of the SOA record (RFC 5936)."""
    first = zone.find_rrset(origin, dns.rdatatype.SOA)
    records = [dns.rrset.from_rdata_list(name, sets.ttl, list(sets)) for name, sets in zone.iterate_rdatasets()]
    return [first, *(record for record in records if record.rdtype != dns.rdatatype.SOA), first]


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, names: NameServer) -> None:
        super().__init__((LOOPBACK, 0), _Connection)
        self.names = names


class _Connection(socketserver.StreamRequestHandler):
    """Messages of one client, each with a length prefix."""

    timeout = _IDLE_SECONDS

    def handle(self) -> None:
        names = cast("_Server", self.server).names
        while len(length := self.rfile.read(_LENGTH.size)) == _LENGTH.size:
            answer = names.answer(self.rfile.read(*_LENGTH.unpack(length)))
            if answer is None:
                return
            self.wfile.write(_LENGTH.pack(len(answer)) + answer)
