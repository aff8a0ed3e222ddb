"""Records of OTLP in binary form, for programs that run in clusters, with the standard library only.

Messages are those of opentelemetry-proto, ``opentelemetry/proto/logs/v1/logs.proto`` and
``opentelemetry/proto/collector/logs/v1/logs_service.proto``.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping

CONTENT_TYPE = "application/x-protobuf"
_SECOND = len("2026-01-01T00:00:00")
_FRACTION_DIGITS, _SECOND_NANOSECONDS = 9, 1_000_000_000
_LENGTH_DELIMITED, _FIXED64 = 2, 1
_MORE, _SEVEN_BITS = 0x80, 0x7F


def request(resource: Mapping[str, str], records: Iterable[bytes]) -> bytes:
    """Return a request with ``records``, each a `record`, of a resource with these attributes."""
    attributes = b"".join(_field(1, _pair(key, value)) for key, value in resource.items())
    logs = b"".join(_field(2, record) for record in records)
    return _field(1, _field(1, attributes) + _field(2, logs))


def record(nanoseconds: int, body: str, attributes: Mapping[str, str]) -> bytes:
    """Return the record of one moment, in nanoseconds since 1970, with a text as body."""
    time = bytes([1 << 3 | _FIXED64]) + nanoseconds.to_bytes(8, "little")
    return (
        time + _field(5, _text(1, body)) + b"".join(_field(6, _pair(key, value)) for key, value in attributes.items())
    )


def nanoseconds_of(time: str) -> int:
    """Return the nanoseconds since 1970 of a time in UTC with up to nine digits of a second, such as that of a store.

    Raises:
        ValueError: the text is no such time.
    """
    second, _, fraction = time.removesuffix("Z").partition(".")
    if len(second) != _SECOND:
        msg = f"no time in UTC: {time}"
        raise ValueError(msg)
    seconds = int(dt.datetime.fromisoformat(f"{second}+00:00").timestamp())
    return seconds * _SECOND_NANOSECONDS + int(f"{fraction:0<{_FRACTION_DIGITS}}"[:_FRACTION_DIGITS])


def _pair(key: str, value: str) -> bytes:
    return _text(1, key) + _field(2, _text(1, value))


def _text(number: int, value: str) -> bytes:
    return _field(number, value.encode())


def _field(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | _LENGTH_DELIMITED]) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    result = bytearray()
    while value > _SEVEN_BITS:
        result.append(value & _SEVEN_BITS | _MORE)
        value >>= 7
    return bytes([*result, value])
