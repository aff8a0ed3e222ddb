"""Output of ``jacquard gc``: deleted templates, and templates in use with their users."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from components.reports.garbage import Template
from jacquard.cli.console import plural, stdout


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
