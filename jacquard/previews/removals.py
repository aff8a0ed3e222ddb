"""Destructive changes of a plan that need confirmation, with the current users of the deleted objects."""

from functools import partial

from components.lookups.charts import installed_inside
from components.lookups.pools import clusters
from components.specs.environment import Environment
from jacquard.engine import guard
from jacquard.engine.guard import Held
from jacquard.engine.plan import Loss, Plan
from jacquard.observe.add_on_users import RELEASE, Uninstalled, add_on_users
from jacquard.observe.observation import connect
from jacquard.observe.users import USED, Name, UnreadableError, users
from jacquard.providers.kube.objects import dig


def held(plan: Plan, environment: Environment) -> list[Held]:
    """Return the destructive changes of ``plan`` that need confirmation, ordered by kind and name.

    Clusters are queried only for kinds whose users matter.
    """
    return guard.held(plan, environment, partial(_users, plan, environment))


def _users(plan: Plan, environment: Environment, loss: Loss) -> tuple[str, ...] | None:
    """Return the users of an object, except those that the plan itself changes or deletes; None if unreachable."""
    name = loss.identity[1:] if loss.identity else ("", "", "", "")
    used = (f"{name[0]}/{name[1]}", name[2], name[3])
    uninstalled = _uninstalled(environment, loss) if used[0] == RELEASE else None
    if used[0] not in USED and uninstalled is None:
        return ()
    cluster = uninstalled.cluster if uninstalled else loss.cluster

    def known(user: Name) -> bool:
        return (cluster, *user) in plan.known

    try:
        if uninstalled:
            return add_on_users(lambda: connect(environment, cluster), uninstalled, known)
        return users(lambda: connect(environment, cluster), used, known)
    except UnreadableError:
        return None


def _uninstalled(environment: Environment, loss: Loss) -> Uninstalled | None:
    """Return the chart that is uninstalled from a remaining tenant cluster; None for suspended and other releases."""
    spec, namespace = loss.recorded.get("spec") or {}, (loss.recorded.get("metadata") or {}).get("namespace")
    placed = next((placed for placed in clusters(environment) if placed.cluster.name == namespace), None)
    if placed is None or not spec.get("kubeConfig") or spec.get("suspend"):
        return None
    spaces = {space for _, space in installed_inside(environment, placed)}
    platform = frozenset({*spaces, str(spec.get("targetNamespace", ""))} - {""})
    return Uninstalled(chart=str(dig(spec, "chartRef", "name")), cluster=placed.cluster.name, platform=platform)
