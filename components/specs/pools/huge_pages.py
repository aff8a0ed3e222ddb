"""Huge pages that the kernel reserves at boot, as requested by kernel arguments."""

import re
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from components.specs.base import bytes_of


class PageSize(StrEnum):
    """Size of huge pages, as in the name of their Kubernetes resource (``hugepages-1Gi``)."""

    MEGABYTES = "2Mi"
    """Pages of 2 MiB."""
    GIGABYTE = "1Gi"
    """Pages of 1 GiB."""


_SIZES = {"2M": PageSize.MEGABYTES, "1G": PageSize.GIGABYTE}
_COUNT = re.compile(r"[0-9]+|[0-9]+:[0-9]+(,[0-9]+:[0-9]+)*")


def unreadable(argument: str) -> bool:
    """Return whether ``argument`` sets a number of huge pages in a form that the kernel does not support."""
    name, _, value = argument.partition("=")
    return name == "hugepages" and _COUNT.fullmatch(value) is None


def reserved(arguments: Iterable[str]) -> Counter[PageSize]:
    """Return the bytes of huge pages that a kernel with ``arguments`` reserves at boot, by page size.

    A number applies to the page size before it, or to the default size, which is 2 MiB unless configured. There may be
    one number for each NUMA node (linux:Documentation/admin-guide/mm/hugetlbpage.rst).
    """
    total = Counter[PageSize]()
    pairs = [(name, value) for name, _, value in (argument.partition("=") for argument in arguments)]
    size = _SIZES.get(dict(pairs).get("default_hugepagesz", "2M"))
    for name, value in pairs:
        if name == "hugepagesz":
            size = _SIZES.get(value)
        elif name == "hugepages" and size is not None and _COUNT.fullmatch(value):
            pages = sum(int(part.rpartition(":")[2]) for part in value.split(","))
            total[size] += pages * bytes_of(size.value)
    return total
