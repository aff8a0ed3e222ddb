"""Which objects a component of the provider stands for: those of files, addresses, texts, plain objects and folders."""

import glob
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from jacquard.lab.standins.kubernetes.objects.documents import load
from jacquard.lab.standins.kubernetes.objects.kustomization import build
from jacquard.providers.errors import ProviderError

CONFIG_FILE = "kubernetes:yaml/v2:ConfigFile"
CONFIG_GROUP = "kubernetes:yaml/v2:ConfigGroup"
DIRECTORY = "kubernetes:kustomize/v2:Directory"
TYPES = (CONFIG_FILE, CONFIG_GROUP, DIRECTORY)

_ADDRESSES = ("https://", "http://")
_FETCH_SECONDS = 60
_PATTERN = frozenset("*?[")
_AS_THE_VENDORS = ("--load-restrictor=LoadRestrictionsNone", "--enable-helm")
"""Bases may lie anywhere, and charts are rendered where there is a helm, unlike by the older function."""


def gather(token: str, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the objects that the inputs of a component name, items of lists one by one.

    Args:
        token: one of `TYPES`.
        given: the inputs, all of them known.

    Raises:
        ProviderError: naming everything that cannot be read or is no object.
    """
    found: list[Any] = []
    for source, text in _texts(token, given):
        found += [one for one in load(text, source) if one]
    objects = list(_single([*found, *given.get("objs", ())]))
    problems = [
        f"object {number} ({_words(one)}): needs apiVersion, kind and metadata.name"
        for number, one in enumerate(objects, 1)
        if not _is_object(one)
    ]
    if problems:
        raise ProviderError("\n".join(problems))
    return objects


def complete(
    objects: Iterable[dict[str, Any]], namespace: str, is_namespaced: Callable[[str, str], bool | None]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Give objects their namespace, and the core group its one spelling.

    Args:
        objects: of `gather`.
        namespace: of objects that name none and are of a namespaced kind.
        is_namespaced: tells that of an apiVersion and a kind; None where nobody knows.

    Returns:
        The objects, and the kinds of those that were left without a namespace because nobody knows.
    """
    found, unknown = [], set()
    for one in objects:
        whole = {**one, "apiVersion": one["apiVersion"].removeprefix("core/")}
        metadata = whole["metadata"]
        namespaced = False if metadata.get("namespace") else is_namespaced(whole["apiVersion"], whole["kind"])
        if namespaced is None:
            unknown.add(f"{whole['apiVersion']} {whole['kind']}")
        found.append({**whole, "metadata": {**metadata, "namespace": namespace}} if namespaced else whole)
    return found, sorted(unknown)


def _texts(token: str, given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return each YAML text with the words that errors call it by."""
    if token == DIRECTORY:
        return [(f"what kustomize makes of '{given['directory']}'", build(given["directory"], *_AS_THE_VENDORS))]
    if token == CONFIG_FILE:
        return _read([given["file"]])
    text = given.get("yaml")
    return [*_read(_matching(given.get("files", ()))), *([("yaml", text)] if text else [])]


def _matching(names: Iterable[str]) -> list[str]:
    """Return file names, patterns among them replaced by what they match."""
    found: list[str] = []
    for name in names:
        is_pattern = _PATTERN & set(name) and not name.startswith(_ADDRESSES)
        found += sorted(glob.glob(name)) or [name] if is_pattern else [name]  # noqa: PTH207 - relative, as it was given
    return found


def _read(names: Iterable[str]) -> list[tuple[str, str]]:
    found, problems = [], []
    for name in names:
        try:
            if name.startswith(_ADDRESSES):
                with urllib.request.urlopen(name, timeout=_FETCH_SECONDS) as answer:  # noqa: S310 - see _ADDRESSES
                    found.append((f"'{name}'", answer.read().decode()))
            else:
                found.append((f"'{name}'", Path(name).read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            problems.append(f"'{name}' cannot be read: it is no UTF-8 text")
        except urllib.error.URLError as error:
            reason = error.reason.strerror if isinstance(error.reason, OSError) else error.reason
            problems.append(f"'{name}' cannot be read: {reason}")
        except OSError as error:
            problems.append(f"'{name}' cannot be read: {error.strerror or error}")
    if problems:
        raise ProviderError("\n".join(problems))
    return found


def _single(objects: Iterable[Any]) -> Iterator[Any]:
    for one in objects:
        if isinstance(one, dict) and isinstance(one.get("items"), list):
            yield from _single(one["items"])
        else:
            yield one


def _is_object(one: Any) -> bool:
    metadata = one.get("metadata") if isinstance(one, dict) else None
    texts = [one.get("apiVersion"), one.get("kind"), metadata.get("name")] if isinstance(metadata, dict) else [None]
    return all(isinstance(text, str) and text for text in texts)


def _words(one: Any) -> str:
    if not isinstance(one, dict):
        return f"a {type(one).__name__}"
    metadata = one.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return " ".join(str(text) for text in (one.get("apiVersion"), one.get("kind"), name) if text) or "nothing of these"
