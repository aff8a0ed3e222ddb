"""Rules about mount options that lose data, and about the NFS version of a class.

The semantics of the options are those of ``nfs(5)`` (linux-nfs:nfs-utils/utils/mount/nfs.man).
"""

from collections.abc import Iterator, Mapping

from components.lookups.pools import problem
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.reading.loader import REGION, WAIVERS
from components.specs.reading.problems import Problem

_TIMEOUT = "returns errors to programs after a timeout, and data that were already written can be lost"
_DATAGRAMS = "can mix fragments of several requests on fast networks, which corrupts data"
_LOCKS = "keeps file locks on each node alone, so programs on two nodes can write one file at the same time"
_REMEDIES: Mapping[str, tuple[str, str]] = {
    "soft": (_TIMEOUT, "write hard"),
    "softerr": (_TIMEOUT, "write hard"),
    "udp": (_DATAGRAMS, "write tcp"),
    "proto=udp": (_DATAGRAMS, "write proto=tcp"),
    "proto=udp6": (_DATAGRAMS, "write proto=tcp6"),
    "nolock": (_LOCKS, "remove it"),
    "local_lock=all": (_LOCKS, "remove it"),
    "local_lock=flock": (_LOCKS, "remove it"),
    "local_lock=posix": (_LOCKS, "remove it"),
}
"""Consequence and remedy of each option."""
_VERSIONS = ("nfsvers=", "vers=", "v3", "v4")


def lossy_options(environment: Environment) -> Iterator[Problem]:
    """Report mount options of storage classes with which programs lose or corrupt data."""
    for index, entry in enumerate(environment.region.storage):
        for at, option in enumerate(entry.mount_options if entry.NFS else ()):
            if option in _REMEDIES:
                why, remedy = _REMEDIES[option]
                text = f"'{option}' {why}; {remedy}, or add a waiver for {entry.name} to {WAIVERS}"
                yield problem(environment, REGION, ("storage", index, "mount_options", at), text, entry.name)


def nfs_version(environment: Environment) -> Iterator[Problem]:
    """Report NFS classes whose mounts negotiate the version.

    Nodes with another kernel, or a server after its upgrade, then use other locks and permissions for the same files.
    """
    for index, entry in enumerate(environment.region.storage):
        if entry.NEGOTIATES_VERSION and not any(option.startswith(_VERSIONS) for option in entry.mount_options):
            text = (
                "has no NFS version, so each node negotiates one, with other locks and permissions; add nfsvers=4.2, or"
                f" a waiver for {entry.name} to {WAIVERS}"
            )
            yield problem(environment, REGION, ("storage", index, "mount_options"), text, entry.name)


RULES = Rules(data=(lossy_options, nfs_version), waivable=(lossy_options, nfs_version))
