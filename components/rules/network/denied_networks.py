"""Rules about denied networks of VPCs: no required networks, no redundant entries, and only on filtering backends."""

from collections.abc import Iterator

from components.lookups.network.served import served_addresses
from components.lookups.pools import DataPath, place, problem, tenant_file
from components.render.backends import NETWORK_BACKENDS, Filter
from components.rules.rule import Rules
from components.rules.storage.storage import address_of
from components.specs.base import Network
from components.specs.environment import Environment
from components.specs.network.tenant_network import Isolation
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem, dotted, listed

_NEEDED = ("storage", "control_plane_vips", "tenants")
_MAX_NAMES = 4


def needed(environment: Environment) -> Iterator[Problem]:
    """Report denied networks that overlap networks required by VPCs, because denials take precedence."""
    kept = list(_kept(environment))
    for file, path, network in _denied(environment):
        cut = [
            f"{dotted(at)} ({required}, {place(environment, REGION, at)})"
            for at, required in kept
            if required.overlaps(network)
        ]
        if cut:
            text = (
                f"{network} would block VPCs from {listed(cut, _MAX_NAMES)}; remove it, or write smaller networks that"
                " leave these out"
            )
            yield problem(environment, file, path, text)


def nested(environment: Environment) -> Iterator[Problem]:
    """Report denied networks inside a wider denied network, because each adds a redundant rule to every DPU.

    Rules about names report duplicates.
    """
    lists: dict[tuple[str, DataPath], list[tuple[DataPath, Network]]] = {}
    for file, path, network in _denied(environment):
        lists.setdefault((file, path[:-1]), []).append((path, network))
    for (file, _), listing in lists.items():
        for path, network in listing:
            wider = ((at, other) for at, other in listing if other != network and network.subnet_of(other))
            if (narrowest := max(wider, key=lambda item: item[1].num_addresses, default=None)) is not None:
                at, enclosing = narrowest
                there = f"{dotted(at)}, {place(environment, file, at)}"
                text = f"{network} is in {enclosing}, which is denied already ({there}); remove it"
                yield problem(environment, file, path, text)


def backends(environment: Environment) -> Iterator[Problem]:
    """Report denied networks of VPCs whose backend does not filter packets."""
    able = " or ".join(isolation for isolation in Isolation if NETWORK_BACKENDS[isolation].filters is Filter.HOSTS)
    reaching = list[str]()
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            if NETWORK_BACKENDS[vpc.isolation].filters is not Filter.NOTHING:
                continue
            reaching.append(f"{vpc.name} ({vpc.isolation})")
            if vpc.deny:
                text = (
                    f"{vpc.isolation} routes all egress or none, and filters no networks; remove it, or write"
                    f" isolation: {able}"
                )
                yield problem(environment, tenant_file(tenant), ("vpcs", index, "deny"), text)
    if reaching and environment.region.networks.deny:
        text = (
            f"packets of {listed(reaching, _MAX_NAMES)} are not filtered and would reach these networks; remove it, or"
            f" write isolation: {able} there"
        )
        yield problem(environment, REGION, ("networks", "deny"), text)


def _denied(environment: Environment) -> Iterator[tuple[str, DataPath, Network]]:
    """Yield the denied networks of the data, with file and path."""
    for index, network in enumerate(environment.region.networks.deny):
        yield REGION, ("networks", "deny", index), network
    for tenant in environment.tenants:
        for at, vpc in enumerate(tenant.vpcs):
            for index, network in enumerate(vpc.deny):
                yield tenant_file(tenant), ("vpcs", at, "deny", index), network


def _kept(environment: Environment) -> Iterator[tuple[DataPath, Network]]:
    """Yield networks that VPCs must reach, with paths in ``region.yaml``: networks first, then single addresses."""
    region, plan = environment.region, environment.region.networks
    yield from ((("networks", key), getattr(plan, key)) for key in _NEEDED)
    yield from ((("networks", "public", index), network) for index, network in enumerate(plan.public))
    for index, behind in enumerate(plan.border.networks if plan.border else ()):
        yield ("networks", "border", "networks", index), behind
    for path, served in served_addresses(region).items():
        yield path, Network(f"{served}/32")
    addresses_spec = region.nodes.addresses
    for key, addresses in (("dns", addresses_spec.dns), ("ntp", addresses_spec.ntp)) if addresses_spec else ():
        for index, address in enumerate(addresses):
            yield ("nodes", "addresses", key, index), Network(f"{address}/32")
    ends: dict[DataPath, str] = {
        ("storage", index, key): getattr(entry, key)
        for index, entry in enumerate(region.storage)
        for key in entry.MANAGEMENT_APIS
    }
    ends |= {("object_stores", index, "endpoint"): store.host for index, store in enumerate(region.object_stores)}
    for path, end in ends.items():
        if (there := address_of(end)) is not None:
            yield path, Network(f"{there}/32")


RULES = Rules(data=(needed, nested, backends))
