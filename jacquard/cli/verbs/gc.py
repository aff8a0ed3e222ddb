"""``jacquard gc``: deletes unreferenced templates of earlier rollouts."""

from collections.abc import Iterable
from typing import Annotated, Any

import typer
from rich.text import Text

from components.render.manifest import MANAGEMENT
from components.reports.garbage import USERS, Template, judged, template_kinds
from jacquard.cli import arguments, data
from jacquard.cli.console import Format, plural, print_json, stdout
from jacquard.cli.errors import Stop
from jacquard.engine import locks
from jacquard.observe.objects import Kind, Object
from jacquard.observe.observation import connect
from jacquard.providers.kube import ApiError, ApiServer, ObjectRef

_DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Delete nothing; list the unreferenced templates.")]


def gc(
    environment: arguments.Env, *, dry_run: _DryRunOption = False, output: arguments.FormatOption = Format.TEXT
) -> None:
    """Delete unreferenced templates of earlier rollouts.

    After a rollout, the old node templates stay in the management cluster, because MachineSets may still create
    machines from them. Deletes templates of Jacquard that no MachineDeployment, no MachineSet and no data reference.
    Exits with 1 if a template could not be deleted, and with 7 if the management cluster cannot be read.
    """
    spec = data.checked(environment)
    with locks.exclusively(environment, "gc"):
        api = connect(spec, MANAGEMENT)
        templates = judged(spec, *_read(api, template_kinds(spec)))
        unused = [template for template in templates if not template.used_by]
        failed = {} if dry_run else collect(api, unused)
    if output is Format.JSON:
        print_json(to_json(environment, templates, failed, dry_run=dry_run))
    else:
        show(environment, templates, failed, dry_run=dry_run)
    if failed:
        msg = f"{environment}: {plural(len(failed), 'template')} could not be deleted; run the command again"
        raise Stop(msg)


def collect(api: ApiServer, templates: Iterable[Template]) -> dict[Template, str]:
    """Delete ``templates`` and return the remaining ones with the reasons.

    Templates that were changed or recreated since they were read are not deleted.
    """
    failed = {}
    for template in templates:
        ref = ObjectRef(template.api_version, template.kind, template.name, template.namespace)
        try:
            api.delete(ref, uid=template.uid, resource_version=template.resource_version)
        except ApiError as error:
            failed[template] = str(error)
    return failed


def _read(api: ApiServer, kinds: Iterable[Kind]) -> tuple[list[Object], list[Object]]:
    """Return the templates, and the objects that may reference them; reading in this order misses no new reference."""
    templates = [body for version, kind in kinds for body in api.list(version, kind)]
    return templates, [body for version, kind in USERS for body in api.list(version, kind)]


def to_json(
    environment: str, templates: list[Template], failed: dict[Template, str], *, dry_run: bool
) -> dict[str, Any]:
    """Return the result as data; ``failed`` contains the reason for each template that could not be deleted."""

    def row(template: Template) -> dict[str, Any]:
        named = {"kind": template.kind, "namespace": template.namespace, "name": template.name}
        return {**named, "image": template.image, "used_by": list(template.used_by), "error": failed.get(template)}

    return {
        "environment": environment,
        "dry_run": dry_run,
        "unused": [row(template) for template in templates if not template.used_by],
        "kept": [row(template) for template in templates if template.used_by],
    }


def show(environment: str, templates: list[Template], failed: dict[Template, str], *, dry_run: bool) -> None:
    """Print the result as text."""
    unused = [template for template in templates if not template.used_by]
    kept, word = len(templates) - len(unused), "would be deleted" if dry_run else "deleted"
    for template in unused:
        why = failed.get(template)
        result = f"not deleted: {why}" if why else f"{word}: no MachineDeployment, MachineSet or data references it"
        stdout().print(Text(f"{template} ({template.image}) {result}"), soft_wrap=True)
    gone = len(unused) - len(failed)
    stdout().print(Text(f"{environment}: {plural(gone, 'template')} {word}, {kept} in use"), soft_wrap=True)
