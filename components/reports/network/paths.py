"""Reachability between two ends: rules, devices and owners, derived from the data without querying devices.

A connection requires both directions. DPUs evaluate rules for each direction; only rules of security groups depend on
the end that opens the connection. Kubernetes NetworkPolicies, Kube-OVN and OVN permit replies.
"""

from collections.abc import Iterator
from itertools import chain

from components.inputs.tenant_network import enforced_by, vpcs
from components.lookups.network.dpus import filters_track_connections
from components.render.backends import NETWORK_BACKENDS, Filter
from components.render.network.packets import ALL, Ports, Rule
from components.render.network.vpc import ANYWHERE, Peer, Vpc, reach, verdicts
from components.reports.network.border import BorderContract, BorderVpc, contract
from components.reports.network.endpoints import INTERNET, PUBLIC, Endpoint, endpoint, ports
from components.reports.network.path_fabrics import FabricEnds, fabric_ends
from components.reports.network.path_namespaces import NamespacePolicies
from components.reports.network.path_steps import Keeper, Step, Verdict, Way, about, why
from components.specs.base import Spec
from components.specs.environment import Environment
from components.specs.network.security_groups import Protocol
from components.specs.network.tenant_network import Egress, Ingress

FORMAT = 1


class Path(Spec):
    """Report of ``jacquard show ENV network --path A B``."""

    schema_version: int = FORMAT
    environment: str
    source: Endpoint
    target: Endpoint
    reached: bool
    """Whether all steps permit the packets, in both directions."""
    decided_by: Step | None
    """Step that blocks the packets; None if no step blocks."""
    steps: tuple[Step, ...]
    """Steps in packet order, up to the blocking step."""
    objects: dict[str, tuple[str, ...]]
    """Objects that enforce the rules of the VPCs at both ends, as kinds and names."""
    fabrics: tuple[FabricEnds, ...]
    """Fabrics that both ends share; the steps do not apply to fabric traffic."""


class NoVpcError(LookupError):
    """Neither end is in a VPC, so Jacquard controls nothing between the ends."""


def path(environment: Environment, source: str, target: str, port: str | None = None) -> Path:
    """Return whether ``source`` may open a connection to ``target``; both in the format of `endpoint`.

    ``port`` has the format of `ports`; if omitted, it is the port of a service of the region, or for other targets a
    port that no rule names.

    Raises:
        KeyError: the lock files do not match the data; ``components.rules.checks`` reports the place.
        NoVpcError: Jacquard controls nothing between the two.
        UnknownEndError: an end does not exist.
        UnknownPortError: ``port`` has an invalid format.
    """
    end = endpoint(environment, target)
    usual = ALL if end.port is None else Ports(protocol=Protocol.TCP, far=end.port)
    requested = usual if port is None else ports(port)
    return Region(environment).path(endpoint(environment, source), end, requested)


class Region:
    """Networks of a region, indexed for many path queries."""

    def __init__(self, environment: Environment) -> None:
        self._environment, self._plan = environment, environment.region.networks
        self._tracks = filters_track_connections(environment)
        self._placed = {placed.vpc.spec.name: placed for placed in vpcs(environment)}
        self._vpcs = {name: placed.vpc for name, placed in self._placed.items()}
        self._namespace_policies = NamespacePolicies(environment)
        self._objects = dict[str, tuple[str, ...]]()
        self._contract: BorderContract = contract(environment)
        self._border = {border.vpc: border for border in self._contract.vpcs}

    def path(self, source: Endpoint, target: Endpoint, requested: Ports = ALL) -> Path:
        """Return whether ``source`` may open a connection to the far port of ``asked`` on ``target``.

        Raises:
            NoVpcError: Jacquard controls nothing between the ends.
        """
        if source.vpc is None and target.vpc is None:
            msg = f"neither {source.name} nor {target.name} is in a VPC, but Jacquard controls only connections of VPCs"
            raise NoVpcError(msg)
        sender = self._sender(source)
        seen = self._seen(sender, target)
        there = chain(
            self._namespace_policies.leaves(sender, target, requested),
            self._there(sender, target, requested),
            self._namespace_policies.enters(seen, target),
        )
        ways = ((Way.THERE, there), (Way.BACK, self._back(target, seen, requested)))
        steps: list[Step] = []
        for way, decisions in ways:
            for verdict in decisions:
                steps.append(
                    Step(
                        way=way,
                        device=verdict.device,
                        rule=verdict.rule,
                        passes=verdict.passes,
                        kept_by=verdict.kept_by,
                    )
                )
                if not verdict.passes:
                    return self._answer(source, target, steps, steps[-1])
        return self._answer(source, target, steps, None)

    def _answer(self, source: Endpoint, target: Endpoint, steps: list[Step], stop: Step | None) -> Path:
        ends = dict.fromkeys(end.vpc for end in (source, target) if end.vpc)
        for name in ends.keys() - self._objects.keys():
            self._objects[name] = enforced_by(self._environment, self._placed[name])
        return Path(
            environment=self._environment.name,
            source=source,
            target=target,
            reached=stop is None,
            decided_by=stop,
            steps=tuple(steps),
            objects={name: self._objects[name] for name in ends},
            fabrics=tuple(fabric_ends(self._environment, source, target)),
        )

    def _sender(self, source: Endpoint) -> Endpoint:
        """Return ``source`` as sender: a VM with a public address sends with its pod address."""
        if source.where != PUBLIC or source.vpc is None:
            return source
        vms = self._placed[source.vpc].tenant.vms
        numbers = self._vpcs[source.vpc].numbers.of_cluster(vms.cluster if vms else "")
        return source.model_copy(update={"address": numbers.pods, "where": "pods"})

    def _seen(self, source: Endpoint, target: Endpoint) -> Endpoint:
        """Return the source as ``target`` observes it: without an owner if the address was translated."""
        if source.vpc is None or source.vpc == target.vpc or self._peer(source, target):
            return source
        border, isolation = self._border.get(source.vpc), NETWORK_BACKENDS[self._vpcs[source.vpc].spec.isolation]
        translated = border is not None and border.translates and target.where in {INTERNET, PUBLIC}
        masked = isolation.masquerades and (isolation.on_dpus or source.where != "hosts")
        elsewhere = {"address": ANYWHERE, "where": INTERNET, "vpc": None}
        return source.model_copy(update=elsewhere) if translated or masked else source

    def _there(self, source: Endpoint, target: Endpoint, asked: Ports) -> Iterator[Verdict]:
        if source.vpc and source.vpc == target.vpc and self._announced(target):
            yield from self._leaves(self._vpcs[source.vpc], source, target, asked)
            yield from self._within(self._vpcs[source.vpc])
            return
        if source.vpc:
            yield from self._leaves(self._vpcs[source.vpc], source, target, asked)
            if peer := self._peer(source, target):
                yield Verdict.by_peering(source.vpc, peer)
                yield from self._receives(self._vpcs[peer.vpc], source, asked.turned)
                return
            yield from self._crosses(self._vpcs[source.vpc], target)
        if target.vpc:
            yield from self._enters(self._vpcs[target.vpc], self._seen(source, target), target, asked.turned)
        if target.where == "api":
            permitted = "policies allow all sources except BMCs to connect to the API server"
            yield Verdict("management cluster", permitted, passes=True)

    def _back(self, target: Endpoint, seen: Endpoint, asked: Ports) -> Iterator[Verdict]:
        """Yield the steps of replies, only on DPUs: other filters permit them."""
        on_dpus = [end for end in (target, seen) if end.vpc and end.vpc in self._border]
        if target.vpc and target.vpc == seen.vpc:
            if on_dpus:
                yield from self._leaves(self._vpcs[target.vpc], target, seen, asked.turned, reply=True)
            return
        if target in on_dpus and target.vpc:
            yield from self._leaves(self._vpcs[target.vpc], target, seen, asked.turned, reply=True)
            if peer := self._peer(target, seen):
                yield Verdict.by_peering(target.vpc, peer)
                yield from self._receives(self._vpcs[peer.vpc], target, asked, reply=True)
                return
            yield from self._crosses(self._vpcs[target.vpc], seen)
        if seen in on_dpus and seen.vpc:
            yield from self._enters(self._vpcs[seen.vpc], target, seen, asked, reply=True)

    def _leaves(
        self, vpc: Vpc, source: Endpoint, target: Endpoint, asked: Ports, *, reply: bool = False
    ) -> Iterator[Verdict]:
        """Yield the filters for packets of ``source`` in ``vpc``."""
        border, name = NETWORK_BACKENDS[vpc.spec.isolation], vpc.spec.name
        if border.filters is Filter.NOTHING or (border.routed_inside and source.namespace):
            return  # A policy-only VPC has policies in namespace default; team namespaces have separate policies.
        if border.filters is Filter.PODS and source.where == "hosts":
            yield self._unfiltered(vpc)
            return
        device = f"DPU of the host in {name}" if border.filters is Filter.HOSTS else f"nodes of {name}"
        rule = self._first_rule(vpc, target, asked, opens=None if reply else False)
        text = f"{'permits' if rule.permits else 'denies'} {about(rule)}: {why(vpc, rule, self._plan)}"
        yield Verdict(device, text, rule.permits)

    def _receives(self, vpc: Vpc, source: Endpoint, asked: Ports, *, reply: bool = False) -> Iterator[Verdict]:
        """Yield the decision of the security group of ``vpc`` on packets from ``source``: the same rules, reversed."""
        if vpc.group is not None:
            rule = self._first_rule(vpc, source, asked, opens=None if reply else True)
            text = f"{'permits' if rule.permits else 'denies'} {about(rule)}: {why(vpc, rule, self._plan)}"
            yield Verdict(f"DPU of the host in {vpc.spec.name}", text, rule.permits)

    def _first_rule(self, vpc: Vpc, other: Endpoint, asked: Ports, *, opens: bool | None) -> Rule:
        """Return the first rule that matches. ``opens``: see `Rule.decides`, for filters that track connections."""
        apart = NETWORK_BACKENDS[vpc.spec.isolation].filters is Filter.HOSTS
        rules = verdicts(reach(vpc, self._plan), apart=apart)
        return next(rule for rule in rules if rule.decides(other.address, asked, opens=opens if self._tracks else None))

    def _announced(self, target: Endpoint) -> bool:
        """Return whether a route of the VPC of ``target`` covers ``target``; only public addresses may have none."""
        border = self._border.get(target.vpc or "")
        return border is None or any(target.address.subnet_of(route.prefix) for route in border.accepts)

    def _peer(self, source: Endpoint, target: Endpoint) -> Peer | None:
        """Return the peer of the VPC of ``source`` with a route to ``target``; None if there is none."""
        peers = self._vpcs[source.vpc].peers if source.vpc and self._announced(target) else ()
        return next((peer for peer in peers if peer.vpc == target.vpc), None)

    def _within(self, vpc: Vpc) -> Iterator[Verdict]:
        border = self._border.get(vpc.spec.name)
        how = f"routes of route target {border.imports}" if border else f"one network by {vpc.spec.isolation}"
        yield Verdict(f"VPC {vpc.spec.name}", how, passes=True)

    def _crosses(self, vpc: Vpc, target: Endpoint) -> Iterator[Verdict]:
        """Yield the steps that route packets out of ``vpc`` to ``target``."""
        border, name = self._border.get(vpc.spec.name), vpc.spec.name
        if border is not None:
            yield from self._by_border(border, target)
        elif NETWORK_BACKENDS[vpc.spec.isolation].on_dpus:
            outside = vpc.spec.egress is Egress.PUBLIC
            rule = f"egress: {vpc.spec.egress}: {'routed outside' if outside else 'no route'}, no network excepted"
            yield Verdict(f"logical router of {name}", rule, outside)
            if self._contract.ovn is not None and outside:
                decision, passes = self._contract.ovn.decision(target.address)
                yield Verdict("router of networks.ovn", decision, passes, Keeper.BORDER)
        else:
            rule = f"{vpc.spec.isolation} has no separate routes: packets have addresses of nodes, or are unchanged"
            yield Verdict("network of the region", rule, passes=True, kept_by=Keeper.NOBODY)

    def _by_border(self, border: BorderVpc, target: Endpoint) -> Iterator[Verdict]:
        routes = [route for route in border.announces if target.address.subnet_of(route.prefix)]
        if not routes:
            yield Verdict(f"VRF {border.vpc}", f"no route to {target.address} is announced into it", passes=False)
            return
        route = max(routes, key=lambda route: route.prefix.prefixlen)
        text = f"route {route.prefix} by route target {route.route_target}: {route.why}"
        yield Verdict(f"VRF {border.vpc}", text, passes=True)
        dropped = next((dropped for dropped in self._contract.drops if target.address.subnet_of(dropped.prefix)), None)
        rule = f"drops {dropped.prefix}: {dropped.why}" if dropped else f"leads to {target.address}"
        yield Verdict("border", rule, dropped is None, Keeper.BORDER)

    def _enters(
        self, vpc: Vpc, source: Endpoint, target: Endpoint, asked: Ports, *, reply: bool = False
    ) -> Iterator[Verdict]:
        """Yield the steps that route packets of ``source`` into ``vpc`` and filter them there."""
        border, isolation = self._border.get(vpc.spec.name), NETWORK_BACKENDS[vpc.spec.isolation]
        if border is not None:
            yield self._into(border, source, target)
            yield from self._receives(vpc, source, asked, reply=reply)
        elif isolation.filters is Filter.PODS and target.where == "hosts":
            yield self._unfiltered(vpc)
        elif isolation.routed_inside:
            text = "routes there, if its operator permits it"
            yield Verdict("network of the region", text, passes=True, kept_by=Keeper.NOBODY)
            if target.namespace is None:
                yield self._policy(vpc, source)
        else:
            text = f"no external network has a route into {vpc.spec.isolation}"
            yield Verdict(f"VPC {vpc.spec.name}", text, passes=False)

    def _unfiltered(self, vpc: Vpc) -> Verdict:
        text = f"{vpc.spec.isolation} does not filter hosts"
        return Verdict(f"nodes of {vpc.spec.name}", text, passes=True, kept_by=Keeper.NOBODY)

    def _into(self, border: BorderVpc, source: Endpoint, target: Endpoint) -> Verdict:
        dropped = next((packets for packets in self._contract.drops if target.address.subnet_of(packets.prefix)), None)
        if dropped and source.vpc:
            text = f"drops {dropped.prefix}: {dropped.why}"
            return Verdict("border", text, passes=False, kept_by=Keeper.BORDER)
        taken = [route for route in border.accepts if target.address.subnet_of(route.prefix)]
        if not taken:
            return Verdict("border", f"has no route to {target.address} of VRF {border.vpc}", passes=False)
        if source.where == INTERNET and not taken[0].outside:
            text = f"announces no route to {taken[0].prefix} ({taken[0].why}) to the internet"
            return Verdict("border", text, passes=False, kept_by=Keeper.BORDER)
        text = f"has route {taken[0].prefix} ({taken[0].why}) by route target {border.imports}"
        return Verdict("border", text, passes=True, kept_by=Keeper.BORDER)

    def _policy(self, vpc: Vpc, source: Endpoint) -> Verdict:
        """Return the decision of the NetworkPolicy in namespace ``default`` about external senders."""
        allowed, device = reach(vpc, self._plan), f"nodes of {vpc.spec.name}"
        denied = next((network for network in allowed.deny if source.address.subnet_of(network)), None)
        if vpc.spec.ingress is Ingress.PUBLIC:
            rule = f"ingress: public, and {denied} excepted" if denied else "ingress: public"
            return Verdict(device, rule, denied is None)
        inside = next((network for network in allowed.inside if source.address.subnet_of(network)), None)
        rule = f"ingress: none, and {inside} excepted" if inside else "ingress: none"
        return Verdict(device, rule, inside is not None)
