"""Recognizes files that are not a document of the chosen format, to report what they are."""

import re
from collections.abc import Mapping
from typing import Any

from components.specs.reading.problems import shown
from jacquard.exchange.records import without_credentials

_BINARIES = {
    b"PK\x03\x04": "is an Excel workbook or another ZIP archive; save the table as CSV in UTF-8",
    b"\xd0\xcf\x11\xe0": "is an Excel workbook; save the table as CSV in UTF-8",
    b"\x1f\x8b": "is compressed with gzip; decompress it first",
    b"PGDMP": "is a database dump; export the hosts as CSV or JSON",
    b"SQLite format 3": "is a database; export the hosts as CSV or JSON",
}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_TEXTS = (
    (
        re.compile(r"\s*(--(?!-)|/\*!|(create|drop|insert|copy|set|begin|pragma)\s.*?;)", re.IGNORECASE | re.DOTALL),
        "is a database dump; export the hosts as CSV or JSON",
    ),
    (re.compile(r"\s*<"), "is a web page or XML, such as a login page; save the answer of the API, or a CSV export"),
)
_EXPORT = "save the answer to a successful request"
_ERROR = f"is an error of an API ({{}}); {_EXPORT}"
_DOCUMENTS = {
    "detail": _ERROR,
    "errors": _ERROR,
    "error": _ERROR,
    "data": "is an answer of a GraphQL API; save the answer of the REST API",
    "expected_machines": "has expected machines of NICo; import it as nico",
    "results": "has results of NetBox; import devices as netbox",
    "items": "has objects of Kubernetes; import BareMetalHosts as bare-metal-hosts",
}
"""Text for a document with a key at its top; ``{}`` is the message at that key."""
_START = 2000
"""Number of leading characters that are searched for a kind of text."""


def decoded(raw: bytes) -> str:
    """Return the text of ``raw`` in UTF-8, or in UTF-16 with a byte order mark, as written by spreadsheets.

    Raises:
        ValueError: with the kind of the file.
    """
    if rule := next((rule for start, rule in _BINARIES.items() if raw.startswith(start)), None):
        raise ValueError(rule)
    try:
        text = raw.decode("utf-16" if raw.startswith(_UTF_16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"is not UTF-8 (byte 0x{raw[error.start]:02x}); save the file as UTF-8"
        raise ValueError(msg) from None
    if "\0" in text:
        msg = "contains zero bytes, so it is not text, or UTF-16 without a mark; save the file as UTF-8"
        raise ValueError(msg)
    return text


def other_text(text: str) -> str | None:
    """Return the kind of ``text`` with a remedy; None if it can be a table, JSON or YAML of hosts."""
    return next((rule for kind, rule in _TEXTS if kind.match(text[:_START])), None)


def other_document(document: Any, key: str) -> str | None:
    """Return the kind of ``document`` with a remedy; None if it can have hosts in a list at ``key``."""
    if not isinstance(document, dict) or key in document:
        return _page(document, key) if isinstance(document, dict) else None
    if document.get("kind") == "Status":
        return f"is an error of Kubernetes ({_said(document.get('message'))}); {_EXPORT}"
    return next((rule.format(_said(document[name])) for name, rule in _DOCUMENTS.items() if name in document), None)


def _page(document: Mapping[str, Any], key: str) -> str | None:
    """Return the problem of a list that continues in another document."""
    here = len(document[key]) if isinstance(document[key], list) else 0
    metadata = document.get("metadata")
    total = document.get("count")
    more = document.get("next") or document.get("previous") or (isinstance(metadata, dict) and metadata.get("continue"))
    if not more and not (isinstance(total, int) and total > here):
        return None
    entries = f" ({here} of {total} entries)" if isinstance(total, int) else ""
    remedy = f"request all pages, and write all entries in one JSON list: jq -s '[.[].{key}[]]' PAGES"
    return f"is one page of several{entries}; {remedy}"


def _said(value: Any) -> str:
    """Return the message of an error, which can be in a list of objects, without credentials."""
    while isinstance(value, list) and value:
        value = value[0]
    value = value.get("message", value) if isinstance(value, dict) else value
    return shown(without_credentials(value) if isinstance(value, str) else value)
