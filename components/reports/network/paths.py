"""May one end reach another: by which rule, over which devices, and who keeps it. Read from data; no device is asked.

A connection needs a way there and a way back. What filters on DPUs knows no connections, so that each way is judged by
itself there; Kubernetes' policies, Kube-OVN and OVN let answers pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from components.inputs.tenant_network import enforced_by, vpcs
from components.render.backends import BORDERS, Filter
from components.render.network.packets import ALL, Ports, Rule
from components.render.network.vpc import ANYWHERE, Peer, Vpc, reach, verdicts
from components.reports.network.border import BorderContract, BorderVpc, contract
from components.reports.network.endpoints import INTERNET, PUBLIC, Endpoint, endpoint, ports
from components.reports.network.path_fabrics import FabricEnds, fabric_ends
from components.reports.network.path_namespaces import Walls
from components.reports.network.path_steps import Keeper, Step, Verdict, Way
from components.reports.network.path_texts import about, why
from components.specs.base import Spec
from components.specs.environment import Environment
from components.specs.network.tenant_network import Egress, Ingress

FORMAT = 1


class Path(Spec):
    """Everything that ``jacquard show ENV network --path A B`` says."""

    schema_version: int = FORMAT
    environment: str
    source: Endpoint
    target: Endpoint
    reached: bool
    """Whether every step lets packets pass, there and back."""
    decided_by: Step | None
    """The step that stops them; None where nothing does."""
    steps: tuple[Step, ...]
    """Steps in the order that packets take them, to the one that stops them."""
    objects: dict[str, tuple[str, ...]]
    """Objects that hold the rules of each VPC at the ends, as their kinds and names."""
    fabrics: tuple[FabricEnds, ...]
    """Fabrics that both ends are on beside that, where no step of these is."""


class NoVpcError(LookupError):
    """Neither end is in a VPC, so that nothing of Jacquard is between them; the text says so."""


def path(environment: Environment, source: str, target: str, port: str | None = None) -> Path:
    """Return whether ``source`` may open a connection to ``target``; both as `endpoint` takes them.

    ``port`` is as `ports` takes it; without it, it is one that no rule names.

    Raises:
        KeyError: the lock files do not fit the data; ``components.rules.checks`` says where.
        NoVpcError: nothing here is between the two.
        UnknownEndError: one of them stands for nothing.
        UnknownPortError: nothing is written like ``port``.
    """
    asked = ALL if port is None else ports(port)
    return Region(environment).path(endpoint(environment, source), endpoint(environment, target), asked)


class Region:
    """The networks of a region, ready to be asked for many paths."""

    def __init__(self, environment: Environment) -> None:
        self._environment, self._plan = environment, environment.region.networks
        self._placed = {placed.vpc.spec.name: placed for placed in vpcs(environment)}
        self._vpcs = {name: placed.vpc for name, placed in self._placed.items()}
        self._walls = Walls(environment)
        self._objects = dict[str, tuple[str, ...]]()
        self._contract: BorderContract = contract(environment)
        self._border = {one.vpc: one for one in self._contract.vpcs}

    def path(self, source: Endpoint, target: Endpoint, asked: Ports = ALL) -> Path:
        """Return whether ``source`` may open a connection to ``target``: to the far port of ``asked``.

        Raises:
            NoVpcError: nothing here is between the two.
        """
        if source.vpc is None and target.vpc is None:
            msg = f"neither {source.name} nor {target.name} is in a VPC, and nothing here is between others"
            raise NoVpcError(msg)
        sender = self._sender(source)
        seen = self._seen(sender, target)
        there = chain(
            self._walls.leaves(sender, target, asked),
            self._there(sender, target, asked),
            self._walls.enters(seen, target),
        )
        ways = ((Way.THERE, there), (Way.BACK, self._back(target, seen, asked)))
        steps: list[Step] = []
        for way, found in ways:
            for one in found:
                steps.append(Step(way=way, device=one.device, rule=one.rule, passes=one.passes, kept_by=one.kept_by))
                if not one.passes:
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
        """Return ``source`` as it sends: a VM with a public address has that of a pod, too."""
        if source.where != PUBLIC or source.vpc is None:
            return source
        vms = self._placed[source.vpc].tenant.vms
        numbers = self._vpcs[source.vpc].numbers.of_cluster(vms.cluster if vms else "")
        return source.model_copy(update={"address": numbers.pods, "where": "pods"})

    def _seen(self, source: Endpoint, target: Endpoint) -> Endpoint:
        """Return the source as ``target`` sees it: one of nobody here where it got another address on the way."""
        if source.vpc is None or source.vpc == target.vpc or self._peer(source, target):
            return source
        border, isolation = self._border.get(source.vpc), BORDERS[self._vpcs[source.vpc].spec.isolation]
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
                yield _by_peering(source.vpc, peer)
                yield from self._receives(self._vpcs[peer.vpc], source, asked.turned)
                return
            yield from self._crosses(self._vpcs[source.vpc], target)
        if target.vpc:
            yield from self._enters(self._vpcs[target.vpc], self._seen(source, target), target, asked.turned)
        if target.where == "api":
            yield Verdict("management cluster", "policies open the API of a control plane to all but BMCs", passes=True)

    def _back(self, target: Endpoint, seen: Endpoint, asked: Ports) -> Iterator[Verdict]:
        """Yield what answers meet where nothing remembers their connection: the way there, turned round, on DPUs."""
        stateless = [end for end in (target, seen) if end.vpc and end.vpc in self._border]
        if target.vpc and target.vpc == seen.vpc:
            if stateless:
                yield from self._leaves(self._vpcs[target.vpc], target, seen, asked.turned)
            return
        if target in stateless and target.vpc:
            yield from self._leaves(self._vpcs[target.vpc], target, seen, asked.turned)
            if peer := self._peer(target, seen):
                yield _by_peering(target.vpc, peer)
                yield from self._receives(self._vpcs[peer.vpc], target, asked)
                return
            yield from self._crosses(self._vpcs[target.vpc], seen)
        if seen in stateless and seen.vpc:
            yield from self._enters(self._vpcs[seen.vpc], target, seen, asked)

    def _leaves(self, vpc: Vpc, source: Endpoint, target: Endpoint, asked: Ports) -> Iterator[Verdict]:
        """Yield what filters packets of ``source`` in ``vpc``."""
        border, name = BORDERS[vpc.spec.isolation], vpc.spec.name
        if border.filters is Filter.NOTHING or (border.routed_inside and source.namespace):
            return  # policies alone are those of namespace default, and each team's has its own
        if border.filters is Filter.PODS and source.where == "hosts":
            yield self._unfiltered(vpc)
            return
        device = f"DPU of the host in {name}" if border.filters is Filter.HOSTS else f"nodes of {name}"
        rule = self._first_rule(vpc, target, asked)
        words = f"{'permits' if rule.permits else 'denies'} {about(rule)}: {why(vpc, rule, self._plan)}"
        yield Verdict(device, words, rule.permits)

    def _receives(self, vpc: Vpc, source: Endpoint, asked: Ports) -> Iterator[Verdict]:
        """Yield what a security group lets in of ``source``: the rules for what hosts send, turned round."""
        if vpc.group is not None:
            rule = self._first_rule(vpc, source, asked)
            words = f"{'lets in' if rule.permits else 'keeps out'} {about(rule)}: {why(vpc, rule, self._plan)}"
            yield Verdict(f"DPU of the host in {vpc.spec.name}", words, rule.permits)

    def _first_rule(self, vpc: Vpc, other: Endpoint, asked: Ports) -> Rule:
        apart = BORDERS[vpc.spec.isolation].filters is Filter.HOSTS
        return next(one for one in verdicts(reach(vpc, self._plan), apart=apart) if one.decides(other.address, asked))

    def _announced(self, target: Endpoint) -> bool:
        """Tell whether ``target`` is in a route of its own VPC, as all but public addresses that stay out are."""
        border = self._border.get(target.vpc or "")
        return border is None or any(target.address.subnet_of(one.prefix) for one in border.accepts)

    def _peer(self, source: Endpoint, target: Endpoint) -> Peer | None:
        """Return the peer of the VPC of ``source`` in which ``target`` has a route; None where it has none."""
        peers = self._vpcs[source.vpc].peers if source.vpc and self._announced(target) else ()
        return next((peer for peer in peers if peer.vpc == target.vpc), None)

    def _within(self, vpc: Vpc) -> Iterator[Verdict]:
        border = self._border.get(vpc.spec.name)
        how = f"routes of route target {border.imports}" if border else f"one network by {vpc.spec.isolation}"
        yield Verdict(f"VPC {vpc.spec.name}", how, passes=True)

    def _crosses(self, vpc: Vpc, target: Endpoint) -> Iterator[Verdict]:
        """Yield what leads packets out of ``vpc`` to ``target``."""
        border, name = self._border.get(vpc.spec.name), vpc.spec.name
        if border is not None:
            yield from self._by_border(border, target)
        elif BORDERS[vpc.spec.isolation].on_dpus:
            outside = vpc.spec.egress is Egress.PUBLIC
            rule = f"egress: {vpc.spec.egress}: {'routed outside' if outside else 'no route'}, no network excepted"
            yield Verdict(f"logical router of {name}", rule, outside)
        else:
            rule = f"{vpc.spec.isolation} has no route of its own: packets have addresses of nodes, or go as they are"
            yield Verdict("network of the region", rule, passes=True, kept_by=Keeper.NOBODY)

    def _by_border(self, border: BorderVpc, target: Endpoint) -> Iterator[Verdict]:
        routes = [one for one in border.announces if target.address.subnet_of(one.prefix)]
        if not routes:
            yield Verdict(f"VRF {border.vpc}", f"no route to {target.address} is announced into it", passes=False)
            return
        route = max(routes, key=lambda one: one.prefix.prefixlen)
        words = f"route {route.prefix} by route target {route.route_target}: {route.why}"
        yield Verdict(f"VRF {border.vpc}", words, passes=True)
        dropped = next((one for one in self._contract.drops if target.address.subnet_of(one.prefix)), None)
        rule = f"drops {dropped.prefix}: {dropped.why}" if dropped else f"leads to {target.address}"
        yield Verdict("border", rule, dropped is None, Keeper.BORDER)

    def _enters(self, vpc: Vpc, source: Endpoint, target: Endpoint, asked: Ports) -> Iterator[Verdict]:
        """Yield what leads packets of ``source`` into ``vpc``, and filters them there."""
        border, isolation = self._border.get(vpc.spec.name), BORDERS[vpc.spec.isolation]
        if border is not None:
            yield self._into(border, source, target)
            yield from self._receives(vpc, source, asked)
        elif isolation.filters is Filter.PODS and target.where == "hosts":
            yield self._unfiltered(vpc)
        elif isolation.routed_inside:
            words = "leads there, if whoever runs it lets it"
            yield Verdict("network of the region", words, passes=True, kept_by=Keeper.NOBODY)
            if target.namespace is None:
                yield self._policy(vpc, source)
        else:
            words = f"nobody outside has a route into {vpc.spec.isolation}"
            yield Verdict(f"VPC {vpc.spec.name}", words, passes=False)

    def _unfiltered(self, vpc: Vpc) -> Verdict:
        words = f"{vpc.spec.isolation} filters no host"
        return Verdict(f"nodes of {vpc.spec.name}", words, passes=True, kept_by=Keeper.NOBODY)

    def _into(self, border: BorderVpc, source: Endpoint, target: Endpoint) -> Verdict:
        dropped = next((one for one in self._contract.drops if target.address.subnet_of(one.prefix)), None)
        if dropped and source.vpc:
            words = f"drops {dropped.prefix}: {dropped.why}"
            return Verdict("border", words, passes=False, kept_by=Keeper.BORDER)
        taken = [one for one in border.accepts if target.address.subnet_of(one.prefix)]
        if not taken:
            return Verdict("border", f"has no route to {target.address} of VRF {border.vpc}", passes=False)
        if source.where == INTERNET and not taken[0].outside:
            words = f"announces no route to {taken[0].prefix} ({taken[0].why}) to the internet"
            return Verdict("border", words, passes=False, kept_by=Keeper.BORDER)
        words = f"has route {taken[0].prefix} ({taken[0].why}) by route target {border.imports}"
        return Verdict("border", words, passes=True, kept_by=Keeper.BORDER)

    def _policy(self, vpc: Vpc, source: Endpoint) -> Verdict:
        """Return what the policy for namespace ``default`` says of who comes from outside."""
        allowed, device = reach(vpc, self._plan), f"nodes of {vpc.spec.name}"
        denied = next((one for one in allowed.deny if source.address.subnet_of(one)), None)
        if vpc.spec.ingress is Ingress.PUBLIC:
            rule = f"ingress: public, and {denied} excepted" if denied else "ingress: public"
            return Verdict(device, rule, denied is None)
        inside = next((one for one in allowed.inside if source.address.subnet_of(one)), None)
        rule = f"ingress: none, and {inside} excepted" if inside else "ingress: none"
        return Verdict(device, rule, inside is not None)


def _by_peering(vpc: str, peer: Peer) -> Verdict:
    words = f"peering with {peer.tenant}/{peer.vpc}: routes of route target {peer.numbers.evpn_target}"
    return Verdict(f"VRF {vpc}", words, passes=True)
