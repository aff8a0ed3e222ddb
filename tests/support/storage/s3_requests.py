"""Requests to S3, signed with a key pair (AWS Signature Version 4), with the standard library only."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

_REGION = "us-east-1"


@dataclass(frozen=True)
class KeyPair:
    """Access key and secret key of a user."""

    access: str
    secret: str


@dataclass(frozen=True)
class Answer:
    """Status and body of a response."""

    status: int
    body: str


def send(url: str, method: str, path: str, *, keys: KeyPair | None, body: bytes = b"", query: str = "") -> Answer:
    """Send a request; without ``keys`` it is anonymous. ``query`` is a canonical query string, such as ``policy=``."""
    headers = _signed(urlsplit(url).netloc, method, path, query, body, keys) if keys else {}
    target = f"{url}{quote(path)}{'?' if query else ''}{query}"
    request = Request(target, data=body or None, method=method, headers=headers)  # noqa: S310 - the store of a test
    try:
        with urlopen(request) as answer:  # noqa: S310
            return Answer(answer.status, answer.read().decode())
    except HTTPError as error:
        return Answer(error.code, error.read().decode())


def _signed(host: str, method: str, path: str, query: str, body: bytes, keys: KeyPair) -> dict[str, str]:
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    scope = f"{moment[:8]}/{_REGION}/s3/aws4_request"
    headers = {"host": host, "x-amz-content-sha256": hashlib.sha256(body).hexdigest(), "x-amz-date": moment}
    names = ";".join(headers)
    lines = (f"{key}:{value}" for key, value in headers.items())
    canonical = "\n".join((method, quote(path), query, *lines, "", names, headers["x-amz-content-sha256"]))
    text = "\n".join(("AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{keys.secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    credential = f"Credential={keys.access}/{scope}, SignedHeaders={names}, Signature={signature}"
    return {**headers, "authorization": f"AWS4-HMAC-SHA256 {credential}"}
