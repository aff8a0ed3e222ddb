"""Rules about storage classes: one default per cluster, a reachable backend, and support by nodes and images."""

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator

from components.intents.images import find_image, lacks_volume_group
from components.lookups.add_ons import add_ons
from components.lookups.pools import DataPath, PlacedCluster, clusters, place, problem, tenant_file, vms_of
from components.render.backends import NETWORK_BACKENDS
from components.rules.rule import Rules
from components.specs.base import Address
from components.specs.environment import Environment
from components.specs.keys import pool_key
from components.specs.network.tenant_network import Egress
from components.specs.reading.loader import IMAGES, REGION
from components.specs.reading.problems import Problem, listed, one_of
from components.specs.region.catalog import GoldenImage, ImageContents
from components.specs.storage.mount_options import VAST_OPTIONS
from components.specs.storage.storage import StorageClassSpec

VAST_CLIENT = "vastnfs"
_MAX_NAMES = 3
MAX_CONNECTIONS = 16
"""Maximum ``nconnect`` of the Linux NFS client (NFS_MAX_CONNECTIONS)."""
_RDMA = re.compile(r"(proto=)?rdma6?")
_STATEFUL = {"slurm-operator"}
"""Charts of add-ons that by default keep state on claims without a storage class. Slurm's controller keeps jobs and
reservations on such a claim (SlinkyProject/slurm-operator:helm/slurm/values.yaml)."""


def default_storage_class(environment: Environment) -> Iterator[Problem]:
    """Report clusters with storage but without exactly one default class."""
    known = [entry.name for entry in environment.region.storage]
    default = [entry.name for entry in environment.region.storage if entry.default]
    using = [placed.cluster.name for placed in clusters(environment) if placed.cluster.storage]
    if using and not default:
        text = f"has no class with default: true, but {listed(using, _MAX_NAMES)} list classes; set it on one of them"
        yield problem(environment, REGION, ("storage",), text)
        return
    for placed in clusters(environment):
        defaults = {name for name in placed.cluster.storage if name in default}
        if placed.cluster.storage and len(defaults) != 1 and set(placed.cluster.storage) <= set(known):
            rule = f"{len(defaults)} default classes among {listed(placed.cluster.storage)}, a cluster has exactly one"
            text = f"{rule}; list {one_of(default)}, default in {REGION}, or set default: true on one class there"
            yield problem(environment, placed.file, (*placed.path, "storage"), text)


def local_disks(environment: Environment) -> Iterator[Problem]:
    """Report local storage classes in clusters without local disks, and local storage classes declared as durable."""
    kinds = environment.instance_types.by_name
    for index, entry in enumerate(environment.region.storage):
        if entry.LOCAL and entry.durable:
            text = f"volumes of {entry.name} are on one node and lost when it is replaced; write durable: false"
            yield problem(environment, REGION, ("storage", index, "durable"), text)
    for placed, at, entry in offered(environment):
        types = [kinds[pool.instance_type] for pool in placed.cluster.pools if pool.instance_type in kinds]
        if entry.LOCAL and types and not any(kind.nvme_disks for kind in types):
            names = listed(dict.fromkeys(kind.name for kind in types))
            text = f"'{entry.name}' requires local disks, but no pool has any (nvme_disks of {names} is 0); remove it"
            yield problem(environment, placed.file, (*placed.path, "storage", at), text)


_Unserved = tuple[PlacedCluster, int, str, str]
"""Cluster, index of a class in its list, reason why the images of its nodes do not serve the class, and remedy."""


def _once(environment: Environment, found: Iterable[_Unserved]) -> Iterator[Problem]:
    """Yield one problem for each demand of a class, at the first cluster; the message names the others."""
    classes: dict[str, list[_Unserved]] = {}
    for item in found:
        demand, _, _ = item[2].partition(" (")  # The rest names images.
        classes.setdefault(demand, []).append(item)
    for (placed, at, reason, remedy), *others in classes.values():
        path = (*placed.path, "storage", at)
        there = (place(environment, one.file, (*one.path, "storage", index)) for one, index, *_ in others)
        names = (f"{one.cluster.name} ({where})" for (one, *_), where in zip(others, there, strict=True))
        also = f", and likewise in {listed(names, _MAX_NAMES)}" if others else ""
        yield problem(environment, placed.file, path, f"{reason}{also}; {remedy}")


_ANOTHER_IMAGE = "promote to an image that has it, or offer another class"


def encrypted_disks(environment: Environment) -> Iterator[Problem]:
    """Report encrypted storage classes on nodes whose images do not encrypt disks."""
    return _once(environment, _unencrypted(environment))


def _unencrypted(environment: Environment) -> Iterator[_Unserved]:
    for placed, at, entry in offered(environment):
        images = _images_with_disks(environment, placed) if entry.encrypted else {}
        plain = [f"{name} has none" for name, image in images.items() if not image.contents.encrypted_scratch]
        if plain:
            there = place(environment, REGION, ("storage", environment.region.storage.index(entry), "encrypted"))
            text = (
                f"'{entry.name}' is encrypted ({there}), which requires images with encrypted_scratch: true"
                f" ({listed(plain)}, {IMAGES})"
            )
            yield placed, at, text, _ANOTHER_IMAGE


def volume_groups(environment: Environment) -> Iterator[Problem]:
    """Report local storage classes on nodes whose images do not create their volume group.

    The agents of the driver exit on such a node. Images that do not declare ``volume_groups`` are not compared.
    """
    return _once(environment, _without_groups(environment))


def _without_groups(environment: Environment) -> Iterator[_Unserved]:
    for placed, at, entry in offered(environment):
        images = _images_with_disks(environment, placed) if entry.LOCAL else {}
        others = [
            f"{name} has {listed(image.contents.volume_groups or ()) or 'none'}"
            for name, image in images.items()
            if lacks_volume_group(image.contents, entry)
        ]
        if others:
            there = place(environment, REGION, ("storage", environment.region.storage.index(entry)))
            text = (
                f"'{entry.name}' has volumes in volume group {entry.volume_group} ({there}), which requires images with"
                f" it in volume_groups ({listed(others)}, {IMAGES})"
            )
            yield placed, at, text, _ANOTHER_IMAGE


def kept_default(environment: Environment) -> Iterator[Problem]:
    """Report local default classes if a durable class exists, or if add-ons keep state on claims without a class.

    A cluster with only local classes is allowed, for jobs without state.
    """
    classes = {entry.name: index for index, entry in enumerate(environment.region.storage)}
    for placed, at, entry in offered(environment):
        if not entry.LOCAL or not entry.default:
            continue
        names = placed.cluster.storage
        local = {spec.name for spec in environment.region.storage if spec.LOCAL}
        kept = [name for name in names if name in classes and name not in local]
        stateful = [add_on.name for add_on in add_ons(environment, placed) if add_on.chart in _STATEFUL]
        there = place(environment, REGION, ("storage", classes[entry.name], "default"))
        reason = f"claims that name no class get '{entry.name}' ({there}), whose volumes are deleted with their node"
        if kept:
            text = f"{reason}; set default on {one_of(kept)} instead, whose volumes outlive nodes"
        elif stateful:
            text = (
                f"{reason}, but {listed(stateful)} stores its state in such claims; list a storage class whose volumes"
                f" outlive nodes, and write default: true for this class in {REGION}"
            )
        else:
            continue
        yield problem(environment, placed.file, (*placed.path, "storage", at), text)


def durable_volumes(environment: Environment) -> Iterator[Problem]:
    """Report volumes of local storage classes that must outlive their node."""
    local = [entry.name for entry in environment.region.storage if entry.LOCAL]
    kept = [entry.name for entry in environment.region.storage if not entry.LOCAL]
    for tenant in environment.tenants:
        if not tenant.vms:
            continue
        classes: list[tuple[DataPath, str]] = [(("vms", "image_storage_class"), tenant.vms.image_storage_class)]
        for path, vm in vms_of(tenant):
            if vm.root is not None:
                classes.append(((*path, "root", "storage_class"), vm.root.storage_class))
            classes += [
                ((*path, "volumes", at, "storage_class"), volume.storage_class)
                for at, volume in enumerate(vm.volumes)
                if not volume.scratch
            ]
        for path, name in classes:
            if name in local:
                added = f"add a class whose volumes outlive nodes to storage of {REGION}"
                remedy = f"pick {one_of(kept)}" if kept else added
                text = f"'{name}' is on the disks of one node, but this volume must outlive it; {remedy}"
                text += ", or write scratch: true" if "volumes" in path else ""
                yield problem(environment, tenant_file(tenant), path, text)


def mount_options(environment: Environment) -> Iterator[Problem]:
    """Report storage classes with mount options that an image of the cluster's nodes does not support."""
    return _once(environment, _unmounted(environment))


def _unmounted(environment: Environment) -> Iterator[_Unserved]:
    for placed, at, entry in offered(environment):
        for options, needed, lacks in _demands(entry):
            images = _images(environment, placed.cluster.name, [pool.name for pool in placed.cluster.pools])
            wrong = [f"{name} has {lack}" for name, image in images.items() if (lack := lacks(image.contents))]
            if wrong:
                there = place(
                    environment, REGION, ("storage", environment.region.storage.index(entry), "mount_options")
                )
                text = (
                    f"'{entry.name}' is mounted with {listed(options)} ({there}), which requires {needed}"
                    f" ({listed(wrong)}, {IMAGES})"
                )
                yield placed, at, text, _ANOTHER_IMAGE


def _demands(entry: StorageClassSpec) -> Iterator[tuple[list[str], str, Callable[[ImageContents], str]]]:
    """Yield mount options with their required image content, and a function that returns an image's mismatch or ""."""
    options = dict(option.partition("=")[::2] for option in entry.mount_options)
    special = [name for name in VAST_OPTIONS if name in options]
    connections = options.get("nconnect", "")
    if connections.isdecimal() and int(connections) > MAX_CONNECTIONS:
        special.append(f"nconnect={connections}")
    if special:
        client = f"nfs_client {VAST_CLIENT}-..."
        yield special, client, lambda has: "" if has.nfs_client.startswith(VAST_CLIENT) else has.nfs_client
    if over_rdma := [option for option in entry.mount_options if _RDMA.fullmatch(option)]:
        yield over_rdma, "nfs_rdma: true", lambda has: "" if has.nfs_rdma else "none"


def reachable(environment: Environment) -> Iterator[Problem]:
    """Report storage whose address hosts of a VPC cannot reach. Hostnames are not checked."""
    for placed, at, entry in offered(environment):
        for key in entry.MANAGEMENT_APIS:
            there = place(environment, REGION, ("storage", environment.region.storage.index(entry), key))
            text = cut_off(environment, placed, entry.name, address_of(getattr(entry, key)), there)
            if text:
                yield problem(environment, placed.file, (*placed.path, "storage", at), text)


def cut_off(
    environment: Environment, placed: PlacedCluster, name: str, address: Address | None, there: str
) -> str | None:
    """Return why a cluster cannot reach storage ``name`` at ``address``, set at ``there``; None if reachable.

    The result is also None if no DPU filters the VPC's hosts, or if the address is a hostname.
    """
    networks, vpc = environment.region.networks, placed.vpc
    if (
        address is None
        or vpc is None
        or not NETWORK_BACKENDS[vpc.isolation].link_per_host
        or address in networks.storage
    ):
        return None
    closed = networks.closed(address)
    if closed:
        return f"'{name}' is at {address} ({there}) in networks.{closed}, which no VPC reaches; move it there"
    if vpc.egress is Egress.NONE:
        return (
            f"'{name}' is at {address} ({there}) outside networks.storage ({networks.storage}), but VPC {vpc.name} has"
            " egress none; move it there, or write egress: public"
        )
    return None


def offered(environment: Environment) -> Iterator[tuple[PlacedCluster, int, StorageClassSpec]]:
    """Yield all classes that clusters offer, with their index in the list of the cluster."""
    classes = {entry.name: entry for entry in environment.region.storage}
    for placed in clusters(environment):
        for at, name in enumerate(placed.cluster.storage):
            if name in classes:
                yield placed, at, classes[name]


def _images(environment: Environment, cluster: str, pools: Iterable[str]) -> dict[str, GoldenImage]:
    """Return the images pinned for nodes of ``pools`` in ``cluster``, each with its pools."""
    pins, running = environment.image_pins, dict[str, dict[str, None]]()
    for pool in sorted(pools):
        for name in pins.groups_by_pool.get(pool_key(cluster, pool), {}).values():
            running.setdefault(pins.intents[name].image, {})[pool] = None
    return {
        f"{version} of {listed(pools)}": image
        for version, pools in running.items()
        if (image := find_image(environment, version))
    }


def _images_with_disks(environment: Environment, placed: PlacedCluster) -> dict[str, GoldenImage]:
    """Return the images pinned for nodes with local disks in a cluster, each with its pools."""
    kinds, pools = environment.instance_types.by_name, placed.cluster.pools
    with_disks = {pool.name for pool in pools if pool.instance_type in kinds and kinds[pool.instance_type].nvme_disks}
    return _images(environment, placed.cluster.name, with_disks)


def address_of(text: str) -> Address | None:
    """Return the address in ``text``, without an optional port; None for a hostname."""
    match = re.fullmatch(r"([0-9.]+)(:[0-9]+)?", text)
    try:
        return ipaddress.IPv4Address(match[1]) if match else None
    except ValueError:
        return None


RULES = Rules(
    data=(
        default_storage_class,
        local_disks,
        encrypted_disks,
        volume_groups,
        kept_default,
        durable_volumes,
        mount_options,
        reachable,
    )
)
