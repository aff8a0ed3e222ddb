"""Huge pages, which the kernel takes out of a node's memory at boot: how many its arguments ask for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from components.specs.base import bytes_of


class PageSize(StrEnum):
    """Size of huge pages, as Kubernetes names the resource of them (``hugepages-1Gi``)."""

    MEGABYTES = "2Mi"
    """Pages of 2 MiB."""
    GIGABYTE = "1Gi"
    """Pages of 1 GiB."""


_SIZES = {"2M": PageSize.MEGABYTES, "1G": PageSize.GIGABYTE}
_COUNT = re.compile(r"[0-9]+|[0-9]+:[0-9]+(,[0-9]+:[0-9]+)*")


def unreadable(argument: str) -> bool:
    """Tell whether ``argument`` is a number of huge pages that the kernel does not understand."""
    name, _, value = argument.partition("=")
    return name == "hugepages" and _COUNT.fullmatch(value) is None


def reserved(arguments: Iterable[str]) -> Counter[PageSize]:
    """Return the bytes of huge pages of each size that a kernel with ``arguments`` reserves at boot.

    A number counts pages of the size before it, or of the default size, which is 2 MiB unless said otherwise; it may be
    one for each NUMA node (linux:Documentation/admin-guide/mm/hugetlbpage.rst).
    """
    found = Counter[PageSize]()
    pairs = [(name, value) for name, _, value in (argument.partition("=") for argument in arguments)]
    size = _SIZES.get(dict(pairs).get("default_hugepagesz", "2M"))
    for name, value in pairs:
        if name == "hugepagesz":
            size = _SIZES.get(value)
        elif name == "hugepages" and size is not None and _COUNT.fullmatch(value):
            pages = sum(int(part.rpartition(":")[2]) for part in value.split(","))
            found[size] += pages * bytes_of(size.value)
    return found
