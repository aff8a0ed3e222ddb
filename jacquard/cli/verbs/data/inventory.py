"""``jacquard inventory``: import of hosts from other systems, comparison with them, and export to them."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from jacquard.cli import arguments, data, outputs
from jacquard.cli.console import Format, plural, print_json, stdout, write_text
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.foreign_hosts import (
    AuthorityOption,
    DriverOption,
    FileArgument,
    FilterOption,
    MapOption,
    OnlyOption,
    Origin,
    PathOption,
    RackOption,
    RacksOption,
    SetOption,
    SourceArgument,
    TokenOption,
    TypeOption,
    UrlOption,
    pairs,
    renames,
    text_of,
)
from jacquard.cli.global_options import Command
from jacquard.cli.views.region import inventory as inventory_view
from jacquard.exchange.addresses import SYSTEM_PATH
from jacquard.exchange.choices import Choices
from jacquard.exchange.exporting import export_hosts
from jacquard.exchange.formats import SOURCES, TARGETS, TargetFormat
from jacquard.exchange.importing import merge
from jacquard.exchange.renames import Renames
from jacquard.machine import paths

_Target = Annotated[TargetFormat, typer.Argument(metavar="FORMAT", help=f"One of: {', '.join(TARGETS)}.")]
_Env = Annotated[
    str, typer.Option("--env", metavar="ENV", help="Environment to write to: a folder under environments/.")
]
_Hall = Annotated[
    str, typer.Option("--hall", metavar="HALL", help="Hall to write to; rows of other halls are skipped.")
]
_ComparedEnv = Annotated[str, typer.Option("--env", metavar="ENV", help="Environment to compare.")]
_ComparedHall = Annotated[
    str, typer.Option("--hall", metavar="HALL", help="Hall to compare; rows of other halls are skipped.")
]
_OneHall = Annotated[str | None, typer.Option("--hall", metavar="HALL", help="Hosts of one hall. Default: all.")]
_Prune = Annotated[bool, typer.Option("--prune", help="Remove hosts of the hall that are not in the file.")]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the changes; write nothing.")]
_Own = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="COLUMN=VALUE", help="Column of FORMAT for all hosts: disk=/dev/sda. Repeatable."),
]
_With = Annotated[
    Path | None,
    typer.Option("--with", metavar="FILE", help="CSV file with a column host and columns of FORMAT per host."),
]


def import_(
    source: SourceArgument,
    environment: _Env,
    hall: _Hall,
    file: FileArgument = None,
    *,
    url: UrlOption = None,
    token_env: TokenOption = None,
    filters: FilterOption = None,
    ca_file: AuthorityOption = None,
    maps: MapOption = None,
    types: TypeOption = None,
    rack: RackOption = None,
    racks: RacksOption = None,
    fixed: SetOption = None,
    only: OnlyOption = None,
    driver: DriverOption = None,
    system_path: PathOption = SYSTEM_PATH,
    prune: _Prune = False,
    dry_run: _DryRun = False,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Import hosts of another system into inventory/hall-HALL.csv.

    Formats: eks-a-csv is the hardware CSV of EKS Anywhere; netbox is devices as CSV or as JSON of /api/dcim/devices/;
    nautobot is JSON of /api/dcim/devices/?depth=1; nico is the expected machines of NVIDIA Infra Controller;
    bare-metal-hosts is the output of kubectl get baremetalhosts -A -o json.

    With --url, the devices of netbox or nautobot are read from the API. 'jacquard inventory diff' shows the changes
    without writing.

    Hosts are matched by name. Existing rows keep their order, new hosts are appended, and columns that the source does
    not contain keep their values. Nothing is written unless every row is valid and consistent with the region.

    Fields without a column are rejected for new hosts, or named in notes, if they change what happens to a machine.

    Passwords and user names are never read, stored or shown: bmc_secret names the Secret that contains them. A BMC
    given as an address becomes DRIVER://ADDRESS/PATH, with --bmc-driver and --bmc-path.
    """
    names = renames(environment, rack, racks)
    choices = _choices(maps, types, fixed, only, names, driver, system_path)
    origin = Origin(
        source=source, file=file, url=url, token_variable=token_env, filters=filters or (), authority=ca_file
    )
    hosts = origin.hosts(data.known(environment))
    with data.editing("inventory import", environment, dry_run=dry_run) as edit:
        done = merge(data.load(environment), hall, hosts, SOURCES[source], choices, prune=prune)
        changes = bool(done.added or done.changed or done.removed)
        if changes and not dry_run:
            edit.write({paths.environments() / environment / done.file: done.text})
    for note in done.notes:
        show(note, "note")
    if output is Format.JSON:
        print_json({"environment": environment, "written": changes and not dry_run, **inventory_view.to_json(done)})
        return
    for line in inventory_view.lines(f"environments/{environment}/{done.file}", origin.name, done):
        stdout().print(line, soft_wrap=True)
    if changes:
        follow = (
            "nothing was written" if dry_run else f"next: run 'jacquard allocate {environment}' and review the change"
        )
        stdout().print(Text(follow), soft_wrap=True)


def diff(
    source: SourceArgument,
    environment: _ComparedEnv,
    hall: _ComparedHall,
    file: FileArgument = None,
    *,
    url: UrlOption = None,
    token_env: TokenOption = None,
    filters: FilterOption = None,
    ca_file: AuthorityOption = None,
    maps: MapOption = None,
    types: TypeOption = None,
    rack: RackOption = None,
    racks: RacksOption = None,
    fixed: SetOption = None,
    only: OnlyOption = None,
    driver: DriverOption = None,
    system_path: PathOption = SYSTEM_PATH,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Compare inventory/hall-HALL.csv with another system, such as NetBox; write nothing.

    New, changed and missing hosts are listed. Hosts are missing if the source does not contain them. Arguments and
    options are those of 'jacquard inventory import', which writes the changes.

    The exit code is 0 without differences, 6 with differences, 2 if the data of the source are wrong, and 7 if the
    API cannot be read.
    """
    names = renames(environment, rack, racks)
    choices = _choices(maps, types, fixed, only, names, driver, system_path)
    origin = Origin(
        source=source, file=file, url=url, token_variable=token_env, filters=filters or (), authority=ca_file
    )
    hosts = origin.hosts(data.known(environment))
    done = merge(data.load(environment), hall, hosts, SOURCES[source], choices, prune=True)
    differs = bool(done.added or done.changed or done.removed)
    for note in done.notes:
        show(note, "note")
    if output is Format.JSON:
        print_json(
            {"environment": environment, "source": origin.name, "differs": differs} | inventory_view.to_json(done)
        )
    else:
        for line in inventory_view.compared(f"environments/{environment}/{done.file}", origin.name, done):
            stdout().print(line, soft_wrap=True)
    if differs:
        msg = f"{environment}: hall {hall} differs from {origin.name}; 'jacquard inventory import' writes the changes"
        raise Stop(msg, ExitCode.DRIFTED)


def export(
    target: _Target,
    environment: arguments.Env,
    *,
    hall: _OneHall = None,
    fixed: _Own = None,
    with_: _With = None,
    rack: RackOption = None,
    racks: RacksOption = None,
    out: arguments.OutOption = None,
) -> None:
    """Export hosts in the format of another system.

    eks-a-csv, netbox (CSV for its bulk import of devices) and nico (expected machines) can be imported again with the
    same result. Columns of the other system that an inventory does not have are set by --set and --with.

    An existing file is never overwritten unless it is empty, because these formats have no place for a marker.

    The file contains no secrets: columns of user names and passwords stay empty, and bmc_secret names the Secret that
    contains them.
    """
    region = data.load(environment)
    table = None if with_ is None else (str(with_), text_of(environment, str(with_)))
    names = renames(environment, rack, racks)
    done = export_hosts(region, hall, TARGETS[target], pairs("--set", fixed), table, names)
    if out is not None:
        outputs.write("--out", out, done.text)
    for note in done.notes:
        show(note, "note")
    if out is None:
        write_text(done.text)
        return
    stdout().print(Text(f"{environment}: {plural(done.hosts, 'host')} in {out}"), soft_wrap=True)


def _choices(
    maps: MapOption,
    types: TypeOption,
    fixed: SetOption,
    only: OnlyOption,
    racks: Renames,
    driver: str | None,
    system_path: str,
) -> Choices:
    return Choices(
        maps=pairs("--map", maps),
        types=pairs("--type", types),
        racks=racks,
        fixed=pairs("--set", fixed),
        only=pairs("--only", only),
        driver=driver,
        system_path=system_path,
    )


app = typer.Typer(
    help="Import hosts from other systems, compare them, and export hosts to other systems.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)
app.command("import", cls=Command)(import_)
app.command("diff", cls=Command)(diff)
app.command("export", cls=Command)(export)
