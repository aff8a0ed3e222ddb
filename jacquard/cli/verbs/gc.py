"""``jacquard gc``: deletes unreferenced templates of earlier rollouts, and golden volumes of earlier image versions."""

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Annotated, Any

import typer
from rich.text import Text

from components.lookups.pools import clusters
from components.render.manifest import MANAGEMENT
from components.reports.garbage import USERS, Retained, judged, template_kinds
from components.specs.environment import Environment
from components.specs.reading.problems import listed
from jacquard.cli import arguments, data
from jacquard.cli.console import Format, plural, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop
from jacquard.engine import locks
from jacquard.observe.golden_volumes import retained_volumes
from jacquard.observe.objects import Kind, Object
from jacquard.observe.observation import connect
from jacquard.observe.users import UnreadableError
from jacquard.providers.kube import ApiError, ApiServer, ObjectRef

_DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Delete nothing; list the unreferenced objects.")]


def gc(
    environment: arguments.Env, *, dry_run: _DryRunOption = False, output: arguments.FormatOption = Format.TEXT
) -> None:
    """Delete unreferenced templates and golden volumes of earlier rollouts.

    After a rollout, the old node templates stay in the management cluster, because MachineSets may still create
    machines from them. Deletes templates of Jacquard that no MachineDeployment, no MachineSet and no data reference.
    Golden volumes of earlier image versions stay in their clusters, because VMs that were not restarted use them.
    Deletes those that no VM, no pod, no other volume and no data use. Exits with 1 if an object could not be deleted,
    and with 7 if a cluster cannot be read.
    """
    spec = data.checked(environment)
    with locks.exclusively(environment, "gc"):
        server = cache(partial(connect, spec))
        found = judged(spec, *_read(server(MANAGEMENT), template_kinds(spec)))
        volumes, unread = _volumes(spec, server)
        found += volumes
        unused = [item for item in found if not item.used_by]
        failed = {} if dry_run else collect(server, unused)
    if output is Format.JSON:
        print_json(to_json(environment, found, failed, unread, dry_run=dry_run))
    else:
        show(environment, found, failed, unread, dry_run=dry_run)
    if failed:
        msg = f"{environment}: {plural(len(failed), 'object')} could not be deleted; run the command again"
        raise Stop(msg)
    if unread:
        msg = f"{environment}: the golden volumes of clusters that cannot be read are unknown: {listed(unread)}"
        raise Stop(msg, ExitCode.UNREACHABLE)


def collect(server: Callable[[str], ApiServer], unused: Iterable[Retained]) -> dict[Retained, str]:
    """Delete objects with the clients that ``server`` returns by cluster; return the remaining ones with the reasons.

    Objects that were changed or recreated since they were read are not deleted.
    """
    failed = {}
    for item in unused:
        ref = ObjectRef(item.api_version, item.kind, item.name, item.namespace)
        try:
            server(item.cluster).delete(ref, uid=item.uid, resource_version=item.resource_version)
        except ApiError as error:
            failed[item] = str(error)
    return failed


def _read(api: ApiServer, kinds: Iterable[Kind]) -> tuple[list[Object], list[Object]]:
    """Return the templates, and the objects that may reference them; reading in this order misses no new reference."""
    templates = [body for version, kind in kinds for body in api.list(version, kind)]
    return templates, [body for version, kind in USERS for body in api.list(version, kind)]


def _volumes(environment: Environment, server: Callable[[str], ApiServer]) -> tuple[list[Retained], dict[str, str]]:
    """Return the golden volumes of all tenants' clusters, and the clusters that cannot be read with the reasons."""
    found, unread = [], {}
    for cluster in sorted(placed.cluster.name for placed in clusters(environment)):
        try:
            found += retained_volumes(environment, cluster, partial(server, cluster))
        except UnreadableError as error:
            unread[cluster] = str(error)
    return found, unread


def to_json(
    environment: str, found: list[Retained], failed: dict[Retained, str], unread: dict[str, str], *, dry_run: bool
) -> dict[str, Any]:
    """Return the result as data; ``failed`` contains the reason for each object that could not be deleted."""

    def row(item: Retained) -> dict[str, Any]:
        named = {"cluster": item.cluster, "kind": item.kind, "namespace": item.namespace, "name": item.name}
        return {**named, "image": item.image, "used_by": list(item.used_by), "error": failed.get(item)}

    return {
        "environment": environment,
        "dry_run": dry_run,
        "unused": [row(item) for item in found if not item.used_by],
        "kept": [row(item) for item in found if item.used_by],
        "unreachable": unread,
    }


def show(
    environment: str, found: list[Retained], failed: dict[Retained, str], unread: dict[str, str], *, dry_run: bool
) -> None:
    """Print the result as text."""
    unused = [item for item in found if not item.used_by]
    kept, word = len(found) - len(unused), "would be deleted" if dry_run else "deleted"
    for item in unused:
        why = failed.get(item)
        image = f" ({item.image})" if item.image else ""
        result = f"not deleted: {why}" if why else f"{word}: no object and no data reference it"
        stdout().print(Text(f"{item}{image} {result}"), soft_wrap=True)
    for cluster, why in unread.items():
        stdout().print(Text(f"cluster {cluster} cannot be read: {why}", "yellow"), soft_wrap=True)
    gone = len(unused) - len(failed)
    stdout().print(Text(f"{environment}: {plural(gone, 'object')} {word}, {kept} in use"), soft_wrap=True)
