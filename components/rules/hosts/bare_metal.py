"""Rules about bare-metal controllers: supported BMCs and boot methods, boot networks, and free hosts."""

from collections.abc import Iterator

from components.allocate.controllers import PATH, boots, budgets, methods_of
from components.intents.boot import boot_method
from components.lookups.bmcs import unverified_bmcs
from components.lookups.intervals import bounds, overlaps
from components.lookups.pools import place, problem
from components.render.backends import BARE_METAL
from components.rules.references import host_problem
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend, BootMethod
from components.specs.hosts.bmc import parse_bmc
from components.specs.hosts.instance_types import Architecture
from components.specs.hosts.root_device import MODEL_TO_WRITE
from components.specs.reading.loader import ALLOCATIONS, INSTANCE_TYPES, REGION, VERSIONS
from components.specs.reading.problems import Problem, listed, shown, suggestion
from components.specs.region.catalog import BootMode

_MAX_RACKS = 3


def drivers(environment: Environment) -> Iterator[Problem]:
    """Report BMCs that the backend does not support: IronCore supports only Redfish BMCs with IP addresses."""
    backend = environment.region.bare_metal.backend
    for host in environment.hosts if BARE_METAL[backend].redfish_only else ():
        bmc = parse_bmc(host.bmc)
        if bmc.is_ipmi:
            text = f"{backend} supports Redfish only; write the BMC as redfish+https://<address>/..."
            yield host_problem(environment, host, "bmc", text)
        elif bmc.address is None:
            text = f"{backend} does not accept hostnames of BMCs; write the IPv4 address"
            yield host_problem(environment, host, "bmc", text)


def root_devices(environment: Environment) -> Iterator[Problem]:
    """Report instance types of hosts under Metal3 without ``root_device``: Metal3 would write images to /dev/sda."""
    backend = environment.region.bare_metal.backend
    used = {host.instance_type for host in environment.hosts} if BootMode.DISK in BARE_METAL[backend].boots else set()
    for index, kind in enumerate(environment.instance_types.instance_types):
        if kind.name in used and kind.root_device is None:
            text = (
                f"is required, because {backend} would write images of {kind.name} to /dev/sda, which may be missing or"
                f" the wrong disk; add {MODEL_TO_WRITE}"
            )
            yield problem(environment, INSTANCE_TYPES, ("instance_types", index, "root_device"), text)


def ramdisks(environment: Environment) -> Iterator[Problem]:
    """Report architectures of hosts under Metal3 without a ramdisk. Without any, Ironic downloads one for amd64."""
    if environment.region.bare_metal.backend is not BareMetalBackend.METAL3:
        return
    ironic, kinds = environment.versions.ironic, environment.instance_types.by_name
    have = {Architecture.AMD64} if ironic is None else {ramdisk.architecture for ramdisk in ironic.ramdisks}
    racks: dict[Architecture, dict[str, None]] = {}
    for host in environment.hosts:
        kind = kinds.get(host.instance_type)
        if kind is not None and kind.architecture not in have:
            racks.setdefault(kind.architecture, {})[host.rack] = None
    for architecture, names in racks.items():
        where = f"hosts of {listed(names, _MAX_RACKS)}"
        if ironic is None:
            text = f"is required, because {where} are {architecture} and Ironic downloads a ramdisk for amd64 only;"
            yield problem(environment, VERSIONS, ("ironic",), f"{text} add it with a ramdisk for each architecture")
        else:
            text = f"has none for {architecture}, and {where} boot no other; add one with this architecture"
            yield problem(environment, VERSIONS, ("ironic", "ramdisks"), text)


def bmc_certificates(environment: Environment) -> Iterator[Problem]:
    """Report BMCs without a verifiable certificate or an exception, and exceptions that match no host."""
    metal, path = environment.region.bare_metal, ("bare_metal", "bmc_certificates")
    certificates = metal.bmc_certificates
    racks, kinds = ({getattr(host, key) for host in environment.hosts} for key in ("rack", "instance_type"))
    for index, exception in enumerate(certificates.unverified):
        for key, named, there in (
            ("racks", exception.racks, racks),
            ("instance_types", exception.instance_types, kinds),
        ):
            for at, name in enumerate(named):
                if name not in there:
                    text = f"no host matches '{name}'; remove or correct it{suggestion(name, there)}"
                    yield problem(environment, REGION, (*path, "unverified", index, key, at), text)
    single = BARE_METAL[metal.backend].excepts_bmcs
    if certificates.authority is not None:
        if certificates.unverified and not single:
            text = f"conflicts with authority, because {metal.backend} verifies all BMCs or none; remove one of the two"
            yield problem(environment, REGION, (*path, "unverified"), text)
        return
    excepted = unverified_bmcs(environment)
    unverified = {
        host.rack: None
        for host in environment.hosts
        if parse_bmc(host.bmc).has_certificate and host.host not in excepted
    }
    if unverified:
        text = (
            f"BMCs of {listed(unverified, _MAX_RACKS)} cannot be verified, and"
            f" {'Ironic' if single else metal.backend} registers no host there; add"
            " bmc_certificates: {authority: <Secret with ca.crt>}, or list racks under unverified with the reason"
        )
        yield problem(environment, REGION, path, text)


def netboot(environment: Environment) -> Iterator[Problem]:
    """Report regions with IronCore metal without its boot services, and images in registries that these reject."""
    metal, kinds = environment.region.bare_metal, {host.instance_type for host in environment.hosts}
    if metal.backend is not BareMetalBackend.IRONCORE_METAL:
        return
    if metal.netboot is None:
        text = (
            f"is required for {metal.backend}, whose operators exit without it; add boot_address, registry_address,"
            " probe_image, probe_os_image and registries"
        )
        yield problem(environment, REGION, ("bare_metal", "netboot"), text)
        return
    wanted = {
        image.url.removeprefix("https://").partition("/")[0]: image.version
        for image in environment.images.images
        if image.boot is BootMode.NETBOOT and kinds.intersection(image.fits)
    }
    for registry in wanted.keys() - {*metal.netboot.registries}:
        text = f"does not contain {registry}, the registry of image {wanted[registry]}; add it"
        yield problem(environment, REGION, ("bare_metal", "netboot", "registries"), text)


def boot_networks(environment: Environment) -> Iterator[Problem]:
    """Report boot networks outside ``networks.boot``, and boot networks that overlap."""
    boot, path = environment.region.networks.boot, ("networks", "boot")
    named = [
        ((*PATH, index, "dhcp", "network"), controller.dhcp.network)
        for index, controller in enumerate(environment.region.bare_metal.controllers)
        if controller.dhcp is not None
    ]
    if boot is None and named:
        text = (
            "is required where controllers lease addresses, because booting hosts must reach Ironic and nothing else in"
            f" the region; add a separate network that contains {listed(str(network) for _, network in named)}"
        )
        yield problem(environment, REGION, path, text)
    for where, network in named:
        if boot is not None and not network.subnet_of(boot):
            text = f"{network} is not in networks.boot ({boot}, {place(environment, REGION, path)});"
            yield problem(environment, REGION, where, f"{text} pick a subnet of it, or widen it there")
    for (other, taken), (where, network) in overlaps((*bounds(entry[1]), entry) for entry in named):
        text = (
            f"{network} overlaps {taken} ({place(environment, REGION, other)}); two controllers would answer the same"
            " host"
        )
        yield problem(environment, REGION, where, f"{text}, move one")


def boot_methods(environment: Environment) -> Iterator[Problem]:
    """Report bare-metal controllers that cannot boot all their hosts. A default controller boots only virtual media."""
    metal = environment.region.bare_metal
    if not metal.controllers and metal.backend is BareMetalBackend.METAL3:
        booted = [host for host in environment.hosts if boot_method(host) is BootMethod.NETWORK_BOOT]
        racks = dict.fromkeys(host.rack for host in booted)
        if len(booted) == 1 and len(environment.hosts) > 1:
            (host,) = booted
            text = (
                f"{shown(host.bmc.partition(':')[0])} boots from the network, but no controller supports network boot,"
                " so Metal3 does not register this host; write a driver with virtual media like the other hosts, such"
                " as redfish-virtualmedia, or add a controller with boot: network-boot to bare_metal.controllers of"
                f" {REGION}"
            )
            yield host_problem(environment, host, "bmc", text)
        elif racks:
            text = (
                f"hosts of {listed(racks, _MAX_RACKS)} boot from the network, but no controller supports network boot,"
                " so Metal3 does not register these hosts; add one with boot: network-boot, or write a driver with"
                " virtual media for these hosts"
            )
            yield problem(environment, REGION, PATH, text)
    methods = methods_of(environment, environment.allocations.hosts)
    for index, controller in enumerate(metal.controllers):
        mine = {
            name
            for name, allocation in environment.allocations.clusters.items()
            if allocation.controller == controller.name
        }
        mine |= {""} if metal.free_hosts == controller.name else set()
        unfit = sorted(name for name in mine if not boots(controller, methods[name]))
        if unfit:
            owners = listed(
                f"{name} ({place(environment, ALLOCATIONS, ('clusters', name))})" if name else "no cluster"
                for name in unfit
            )
            text = (
                f"'{controller.name}' boots by {controller.boot}, but hosts of {owners} boot from the network; write"
                " network-boot,"
            )
            yield problem(
                environment, REGION, (*PATH, index, "boot"), f"{text} or a driver with virtual media for these"
            )


def free_hosts(environment: Environment) -> Iterator[Problem]:
    """Report controllers whose free hosts exceed the remaining capacity of the controller."""
    for index, budget in enumerate(budgets(environment)):
        if budget.free and budget.boot and budget.hosts > budget.limit:
            text = (
                f"'{budget.name}' has a limit of {budget.limit}, but manages {budget.assigned} hosts of clusters"
                f" and {budget.free} free hosts; write another controller in free_hosts, or add a controller for free"
                " hosts"
            )
            yield problem(environment, REGION, (*PATH, index, "max_hosts"), text)


RULES = Rules(
    data=(drivers, root_devices, ramdisks, bmc_certificates, netboot, boot_networks), locks=(boot_methods, free_hosts)
)
