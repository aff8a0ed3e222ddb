"""``jacquard backstage``: entities of Backstage's software catalog."""

import re
from typing import Annotated
from urllib.parse import urlsplit

import typer
from rich.text import Text

from components.reports.fleet.backstage import NAMESPACE, OWNER, OWNER_REFERENCE, Backstage, entities
from components.specs.base import DNS_LABEL
from components.specs.reading.problems import shown
from jacquard.cli import arguments, data, outputs
from jacquard.cli.console import plural, stdout, write_text
from jacquard.cli.views.render_tree import yaml_text

MARK = "# Written by 'jacquard backstage'; do not edit."
EXAMPLE = "https://grafana.example"


def _owner(text: str) -> str:
    if not OWNER_REFERENCE.fullmatch(text):
        msg = f"must be a reference to a group or user (got {shown(text)}); write it like {OWNER}"
        raise typer.BadParameter(msg)
    return text


def _namespace(text: str) -> str:
    if not re.fullmatch(DNS_LABEL, text):
        msg = (
            f"must be a DNS label of lower-case letters, digits and '-' (got {shown(text)}); write it like {NAMESPACE}"
        )
        raise typer.BadParameter(msg)
    return text


def _grafana(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    valid = parts.scheme in {"http", "https"} and parts.hostname and "@" not in parts.netloc
    if not valid or parts.query or parts.fragment:
        msg = f"must be the address of Grafana without a login (got {shown(text)}); write it like {EXAMPLE}"
        raise typer.BadParameter(msg)
    return text


def backstage(
    environments: arguments.Envs = None,
    *,
    out: arguments.OutOption = None,
    owner: Annotated[
        str, typer.Option("--owner", metavar="REF", callback=_owner, help="Owner of regions and management clusters.")
    ] = OWNER,
    namespace: Annotated[
        str, typer.Option("--namespace", metavar="NAME", callback=_namespace, help="Namespace of the entities.")
    ] = NAMESPACE,
    grafana: Annotated[
        str | None,
        typer.Option(
            "--grafana",
            metavar="URL",
            callback=_grafana,
            help="Address of Grafana, for links to dashboards. Default: no links.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Print regions, tenants, clusters and pools as entities of Backstage's catalog, in YAML.

    A region is a System, a tenant a Group, and clusters and pools are Resources. A tenant owns its clusters and pools,
    and a cluster depends on its pools and on the management cluster. The output changes only if the data change, so a
    job can write it to catalog-info.yaml and commit it.

    The entities contain no secrets and no addresses of hosts.
    """
    names = data.chosen(environments)
    options = Backstage(owner=owner, namespace=namespace, grafana=grafana)
    found = list(entities(map(data.load, names), options))
    text = f"{MARK}\n" + "---\n".join(map(yaml_text, found))
    if out is None:
        write_text(text)
        return
    outputs.write("--out", out, text, MARK)
    stdout().print(Text(f"{plural(len(found), 'entity', 'entities')} in {out}"), soft_wrap=True)
