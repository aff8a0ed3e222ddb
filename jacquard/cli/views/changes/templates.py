"""What ``jacquard gc`` answers: which templates go, and which are kept by whom."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from components.reports.garbage import Template
from jacquard.cli.console import plural, stdout


def to_json(
    environment: str, templates: list[Template], failed: dict[Template, str], *, dry_run: bool
) -> dict[str, Any]:
    """Return the answer as data; ``failed`` says why a template could not be deleted."""

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
    """Print the answer for people."""
    unused = [template for template in templates if not template.used_by]
    kept, word = len(templates) - len(unused), "would be deleted" if dry_run else "deleted"
    for template in unused:
        why = failed.get(template)
        said = f"stays: {why}" if why else f"{word}: no MachineDeployment, MachineSet or data names it"
        stdout().print(Text(f"{template} ({template.image}) {said}"), soft_wrap=True)
    gone = len(unused) - len(failed)
    stdout().print(Text(f"{environment}: {plural(gone, 'template')} {word}, {kept} in use"), soft_wrap=True)
