"""``jacquard render``: what an environment comes to, as files."""

from __future__ import annotations

from rich.text import Text

from cli import arguments, data, outputs
from cli.console import Format, plural, print_json, stdout
from cli.views import render_tree
from components.plan.build.manifests import manifests
from components.plan.build.slices import slices
from components.render.manifest import objects


def render(
    environment: arguments.Env,
    out: arguments.OutOption,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Write every object as YAML, one file each.

    Files are CLUSTER/NAMESPACE/KIND-NAME.yaml, with _cluster for what has no namespace, and the same to the byte each
    time. Files of objects that are gone are removed; a folder that holds anything else is refused.
    """
    outputs.refuse_data("--out", out)
    spec = data.checked(environment)
    bodies = [item for piece in slices(spec) for item in objects(manifests(spec, piece))]
    outcome = render_tree.FOLDER.write(out, environment, render_tree.files(bodies))
    if output is Format.JSON:
        print_json({"environment": environment, "folder": str(out), **outcome.to_json()})
        return
    changes = [f"{len(names)} {word}" for word, names in outcome.to_json().items() if names and word != "unchanged"]
    text = f"{environment}: {plural(len(bodies), 'object')} in {out}, {', '.join(changes) or 'nothing changed'}"
    stdout().print(Text(text), soft_wrap=True)
