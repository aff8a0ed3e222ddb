"""Recognition and masking of secrets in text: credentials by form, URLs with a login or a signature, named values.

This module has the only masking functions for values that are shown. Masking is idempotent, and hides too much rather
than too little. It takes linear time: repetitions that can begin at many positions of a text have an upper limit.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import yaml

from components.specs.struct import Struct

MASK = "[secret]"
"""Placeholder of a masked value, equal to that of the engine."""
FORMS = Path(__file__).with_name("secret_forms.yaml")
_URL = re.compile(r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]{0,63})://(?P<rest>[^\s<>]+)")
_LOGIN = re.compile(
    r"(?=[^?#]*@)(?:"  # without an @, the second alternative would search for one after each colon
    r"[^/?#]*@"  # up to the last @ of the authority
    # A password with an unescaped slash: what follows the colon is no port.
    r"|(?!\[)[^/?#@]+:(?![0-9]{1,5}(?:[^\w@%:]|$))[^?#]*@)"
)
_NAMELESS_LOGIN = re.compile(r"(?<![\w/@.:+-])[\w.+-]{1,256}:[^\s/@'\"]{3,512}@(?!sha[0-9]+:)(?=[\w.-])")
"""User and password before a host, without a scheme. ``name:tag@sha256:...`` is an image."""
_USERS_ONLY = ("ssh", "git", "postgres", "mysql", "sftp", "ipmi")
"""Beginnings of schemes whose URLs may have a user without a password. Elsewhere a user alone can be a token."""
_PARAMETER = re.compile(
    r"(?P<before>[?&#;](?:amp;)?)(?P<name>[^\s=&#;?'\"]+)=(?!\[secret\])(?P<value>[^\s&#;'\"<>)\]},]+)"
)
_SIGNED = re.compile(r"\?[\w%+/.~-]{16,}=*(?![\w%=&])")
"""Query without names."""
_HARMLESS = re.compile(
    r"region|profile|endpoint|awssdk|metadata|ns|domain|project|protocol|sslmode|storage_account|use_path_style"
    r"|s3forcepathstyle|disable_https|disablessl|hostname_immutable|version|versionid|var-tenant|var-cluster",
    re.IGNORECASE,
)
"""Parameters of URLs that are shown: those of Pulumi's backends, and variables of dashboards."""
_SECRET_PARAMETER = re.compile(
    r"sig|key|auth|code|hdn(?:ts|ea|tl)|__gda__|.*(?:signature|token|secret|passw|pwd|passphrase|credential|jwt|hmac"
    r"|authorization|(?:api|access|account|auth|private)[-_]?key).*",
    re.IGNORECASE,
)
"""Parameters of URLs that authenticate a request."""
_WORDS = (
    r"(?:passw(?:or)?d|passphrase|token|credentials?|(?:private|api|access|account|secret)[-_.]?key|client[-_.]?secret)"
)
_SECRET_NAME = re.compile(rf"{_WORDS}$", re.IGNORECASE)
_HINTS = ("pass", "token", "credential", "key", "secret")
"""Parts of ``_WORDS`` in lower case, which are found faster."""
_VALUE = r"(?![\"']?\[secret\])(?:\"[^\"]*\"|'[^']*'|[^\s\"',;&}]+)"
_NAMED_VALUE = re.compile(rf"(--?[\w-]{{0,64}}{_WORDS}[\"'\s=,]+|{_WORDS}[\"']?\s*[=:]\s*){_VALUE}", re.IGNORECASE)
_REFERENCE = re.compile(r"(?:secret|credentials)$")
"""Fields that contain the name of a Secret."""
_NAME_LIKE = re.compile(r"[-a-z0-9<>/.]*")
_WORD = re.compile(r"[^\s,;:=/@&?'\"{}()\[\]]{3,}")
_Value = TypeVar("_Value")


class HiddenValueError(ValueError):
    """Rejects a value that is not shown, because users paste secrets there."""


class SecretForm(Struct, kw_only=False):
    """Form of a credential."""

    name: str
    """Kind of credential with its article, such as ``a GitHub token``."""
    marks: tuple[str, ...]
    """Literal texts of which each credential of this form contains one."""
    pattern: re.Pattern[str]
    """Pattern of the credential itself, which is masked."""


def masked(text: str) -> str:
    """Return ``text``, a value or a message of another program, with secrets and values named as secrets masked."""
    text, lower = masked_forms(text), text.lower()
    return _NAMED_VALUE.sub(rf"\g<1>{MASK}", text) if any(word in lower for word in _HINTS) else text


def masked_forms(text: str) -> str:
    """Return ``text``, a message, with secrets masked that are recognised without a name, by their form alone.

    Messages name fields, such as ``credentials: must be a name``, so a name alone does not mark a secret there.
    """
    if "://" in text:
        text = _URL.sub(lambda match: f"{match['scheme']}://{_masked_rest(match['scheme'], match['rest'])}", text)
    if "@" in text:
        text = _NAMELESS_LOGIN.sub(f"{MASK}@", text)
    if _marks().search(text):
        for form in _forms():
            text = form.pattern.sub(MASK, text)
    return text


def masked_parts(text: str, value: object, safe: str) -> str:
    """Return ``text``, which was derived from ``value``, without the words of ``value`` that ``safe`` hides.

    A remedy may contain parts of a value in another order, in which a secret has no form.
    """
    hidden = set(_WORD.findall(str(value))) - set(_WORD.findall(safe)) if value != safe else ()
    for word in sorted(hidden, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", lambda _: MASK, text)
    return text


def masked_data(value: _Value) -> _Value:
    """Return JSON data with the secrets in its texts and keys masked by form; see `masked_forms`."""
    return _masked_data(value)  # type: ignore[no-any-return]


def _masked_data(value: Any) -> Any:
    match value:
        case str():
            return masked_forms(value)
        case dict():
            return {_masked_data(key): _masked_data(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_masked_data(inner) for inner in value]
    return value


def shown_at(path: Sequence[Any], value: _Value) -> _Value | str:
    """Return ``value`` for a message about ``path``; masked if a key of the path says that the value is a secret.

    A field that names a Secret is shown only if the value can be such a name: others are mostly the secret itself.
    """
    if not isinstance(value, str | int | float):
        return value
    if path and _REFERENCE.search(str(path[-1])):
        return value if _NAME_LIKE.fullmatch(str(value)) else MASK
    return MASK if names_secret(path) else value


def names_secret(path: Sequence[Any]) -> bool:
    """Return whether a step of ``path`` is the name of a value that is a secret, such as ``password``."""
    return any(_SECRET_NAME.search(str(step)) for step in path)


def secret_in_url(url: str) -> str:
    """Return a description of the secret in ``url``, such as ``a login``; empty without a secret.

    A user alone is no secret for protocols in which tokens are not users, and other parameters than signatures, keys
    and passwords may be part of a public address.
    """
    match = _URL.fullmatch(url)
    scheme, rest = (match["scheme"], match["rest"]) if match else ("", url)
    if _login(scheme, rest):
        return "a login"
    for parameter in _PARAMETER.finditer(rest):
        if _SECRET_PARAMETER.fullmatch(parameter["name"]):
            return f"the secret parameter {parameter['name']}"
    return next((form.name for form in _forms() if form.pattern.search(url)), "") if _marks().search(url) else ""


def without_secret(url: str) -> str:
    """Return ``url`` if it contains no secret.

    Raises:
        ValueError: ``url`` contains a login, a signature or another secret; the message names its kind only.
    """
    secret = secret_in_url(url)
    if secret:
        msg = f"contains {secret}, but data must not contain secrets; remove it"
        raise ValueError(msg)
    return url


def found(text: str) -> Iterator[tuple[int, str]]:
    """Yield the position and the description of each secret in ``text``, the content of a file, by form."""
    for form in _forms() if _marks().search(text) else ():
        yield from ((match.start(), form.name) for match in form.pattern.finditer(text))
    for match in _URL.finditer(text) if "@" in text or "=" in text else ():
        login = _login(match["scheme"], match["rest"])
        if login and ":" in login:
            yield match.start(), "a URL with a login"
        elif any(_SECRET_PARAMETER.fullmatch(item["name"]) for item in _PARAMETER.finditer(match["rest"])):
            yield match.start(), "a URL with a signature or token"


def _login(scheme: str, rest: str) -> str:
    """Return the login at the start of a URL's ``rest`` with its ``@``; empty if there is none that is secret."""
    match = _LOGIN.match(rest)
    login = match[0] if match else ""
    user_only = ":" not in login and (not scheme or scheme.lower().startswith(_USERS_ONLY))
    return "" if user_only else login


def _masked_rest(scheme: str, rest: str) -> str:
    """Return a URL after its scheme, without login and with the values of parameters masked."""
    login = _login(scheme, rest)
    rest = f"{MASK}@{rest[len(login) :]}" if login else rest
    return _PARAMETER.sub(_masked_parameter, _SIGNED.sub(f"?{MASK}", rest))


def _masked_parameter(match: re.Match[str]) -> str:
    return match[0] if _HARMLESS.fullmatch(match["name"]) else f"{match['before']}{match['name']}={MASK}"


@cache
def _rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = yaml.load(FORMS.read_bytes(), Loader=yaml.CSafeLoader)
    return rows


@cache
def _forms() -> tuple[SecretForm, ...]:
    return tuple(SecretForm(row["name"], tuple(row["marks"]), re.compile(row["pattern"])) for row in _rows())


@cache
def _marks() -> re.Pattern[str]:
    return re.compile("|".join(re.escape(mark) for row in _rows() for mark in row["marks"]))
