"""Records of OTLP and samples of remote write in binary form, as agents send them."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterable, Mapping


def records(messages: Iterable[str], attributes: Mapping[str, str]) -> bytes:
    """Return records of this moment with attributes of their resource.

    Source: opentelemetry-proto, opentelemetry/proto/logs/v1/logs.proto.
    """
    resource = b"".join(_part(1, _text(1, key) + _part(2, _text(1, value))) for key, value in attributes.items())
    now = b"\x09" + time.time_ns().to_bytes(8, "little")
    found = b"".join(_part(2, now + _part(5, _text(1, message))) for message in messages)
    return _part(1, _part(1, resource) + _part(2, found))


Labels = Iterable[tuple[str, str]]


def samples(*series: tuple[Labels, float]) -> bytes:
    """Return one sample of this moment for each of ``series``, at most 64 KiB in snappy's format without compression.

    Source: prometheus, prompb/remote.proto and prompb/types.proto; a label may be given twice.
    """
    now = b"\x10" + _varint(time.time_ns() // 1_000_000)
    data = b"".join(
        _part(1, _labels(labels) + _part(2, b"\x09" + struct.pack("<d", value) + now)) for labels, value in series
    )
    # A literal with its length in two bytes (google/snappy, format_description.txt).
    return _varint(len(data)) + bytes([61 << 2]) + (len(data) - 1).to_bytes(2, "little") + data


def _labels(labels: Labels) -> bytes:
    return b"".join(_part(1, _text(1, name) + _text(2, value)) for name, value in labels)


def _text(number: int, value: str) -> bytes:
    return _part(number, value.encode())


def _part(number: int, data: bytes) -> bytes:
    """Return a field of variable length."""
    return bytes([number << 3 | 2]) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    result = bytearray()
    while value > 0x7F:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*result, value])
