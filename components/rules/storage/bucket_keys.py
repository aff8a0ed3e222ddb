"""Keys of a tenant's bucket in a namespace, for rules about workloads that use the bucket."""

from components.lookups.pools import PlacedCluster, place
from components.specs.environment import Environment
from components.specs.storage.buckets import ALWAYS_THERE, BucketSpec, Rights


def lacking_keys(
    environment: Environment, placed: PlacedCluster, name: str, namespace: str, needed: tuple[Rights, ...]
) -> str:
    """Return why pods of ``namespace`` have no keys of bucket ``name`` with ``needed`` rights; empty if they have them.

    Undeclared names are left to other rules: they may mean the right ones. The first of ``needed`` is the remedy.
    """
    spaces = {
        other.name: {ALWAYS_THERE, namespace, *(space.name for space in other.namespaces)}
        for other in placed.tenant.clusters
    }
    for at, bucket in enumerate(placed.tenant.buckets):
        if bucket.name == name and all(
            spaces.get(access.cluster, set()).issuperset(access.namespaces) for access in bucket.access
        ):
            return _lacking(environment, placed, (at, bucket), namespace, needed)
    return ""


def _lacking(
    environment: Environment,
    placed: PlacedCluster,
    found: tuple[int, BucketSpec],
    namespace: str,
    needed: tuple[Rights, ...],
) -> str:
    at, bucket = found
    for index, access in enumerate(bucket.access):
        if access.cluster == placed.cluster.name and namespace in access.namespaces:
            there = place(environment, placed.file, ("buckets", at, "access", index))
            verb = "read" if needed[0] is Rights.READ else "write"
            text = f"'{bucket.name}' has keys in namespace {namespace} that cannot {verb} ({there}); write rights:"
            return "" if access.rights in needed else f"{text} {needed[0]} there"
    there = place(environment, placed.file, ("buckets", at))
    return (
        f"'{bucket.name}' has no keys in namespace {namespace} ({there}); add {{cluster: {placed.cluster.name},"
        f" namespaces: [{namespace}], rights: {needed[0]}}} to its access"
    )
