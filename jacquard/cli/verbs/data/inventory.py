"""``jacquard inventory``: import of hosts from files of other systems, and export to them."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from components.specs.reading.problems import Problem, SpecError
from jacquard.cli import arguments, data, outputs
from jacquard.cli.console import Format, plural, print_json, stdout, write_text
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.views.region import inventory as inventory_view
from jacquard.exchange.addresses import DRIVER, SYSTEM_PATH
from jacquard.exchange.choices import Choices
from jacquard.exchange.exporting import export_hosts
from jacquard.exchange.file_kinds import decoded
from jacquard.exchange.formats import SOURCES, TARGETS, SourceFormat, TargetFormat
from jacquard.exchange.importing import import_hosts
from jacquard.exchange.renames import Renames, read_renames
from jacquard.machine import paths

MAX_BYTES = 100_000_000
"""Maximum size of a foreign file in bytes; BareMetalHosts of 6,000 inspected machines are smaller."""
STDIN = "-"

_Source = Annotated[SourceFormat, typer.Argument(metavar="FORMAT", help=f"One of: {', '.join(SOURCES)}.")]
_Target = Annotated[TargetFormat, typer.Argument(metavar="FORMAT", help=f"One of: {', '.join(TARGETS)}.")]
_File = Annotated[str, typer.Argument(metavar="FILE", help="File to read; - for standard input.")]
_Env = Annotated[
    str, typer.Option("--env", metavar="ENV", help="Environment to write to: a folder under environments/.")
]
_Hall = Annotated[
    str, typer.Option("--hall", metavar="HALL", help="Hall to write to; rows of other halls are skipped.")
]
_OneHall = Annotated[str | None, typer.Option("--hall", metavar="HALL", help="Hosts of one hall. Default: all.")]
_Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="KEY=COLUMN",
        help="Source key of a column: device_type=instance_type, labels.type=instance_type. Repeatable.",
    ),
]
_Type = Annotated[
    list[str] | None,
    typer.Option(
        "--type", metavar="NAME=INSTANCE_TYPE", help="Map a type name in the file to an instance type. Repeatable."
    ),
]
_Rack = Annotated[
    list[str] | None,
    typer.Option(
        "--rack",
        metavar="NAME=RACK",
        help="Rack with another name in the file: A05=a05, or 'A*=a*' for all such names. Repeatable.",
    ),
]
_Racks = Annotated[
    Path | None, typer.Option("--racks", metavar="FILE", help="CSV file with the columns name and rack, like --rack.")
]
_Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="COLUMN=VALUE",
        help="Set the default value of a column, such as leaf=leaf-a01, bmc_secret=bmc-{rack}. Repeatable.",
    ),
]
_Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="KEY=VALUE",
        help="Read only matching rows: role=gpu-node. Repeatable; all conditions must match.",
    ),
]
_Driver = Annotated[
    str | None,
    typer.Option(
        "--bmc-driver",
        metavar="DRIVER",
        help=f"Driver for BMCs given as an address. Default: the existing driver of the host, or {DRIVER}.",
        show_default=False,
    ),
]
_Path = Annotated[
    str, typer.Option("--bmc-path", metavar="PATH", help="System path for BMCs given as an address; not for ipmi.")
]
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
    source: _Source,
    file: _File,
    environment: _Env,
    hall: _Hall,
    *,
    maps: _Map = None,
    types: _Type = None,
    rack: _Rack = None,
    racks: _Racks = None,
    fixed: _Set = None,
    only: _Only = None,
    driver: _Driver = None,
    system_path: _Path = SYSTEM_PATH,
    prune: _Prune = False,
    dry_run: _DryRun = False,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Import hosts from a file of another system into inventory/hall-HALL.csv.

    Formats: eks-a-csv is the hardware CSV of EKS Anywhere; netbox is devices as CSV or as JSON of /api/dcim/devices/;
    nico is the expected machines of NVIDIA Infra Controller; bare-metal-hosts is the output of
    kubectl get baremetalhosts -A -o json.

    Hosts are matched by name. Existing rows keep their order, new hosts are appended, and columns that the file does
    not contain keep their values. Nothing is written unless every row is valid and consistent with the region.

    Fields without a column are rejected for new hosts, or named in notes, if they change what happens to a machine.

    Passwords and user names are never read, stored or shown: bmc_secret names the Secret that contains them. A BMC
    given as an address becomes DRIVER://ADDRESS/PATH, with --bmc-driver and --bmc-path.
    """
    choices = Choices(
        maps=_pairs("--map", maps),
        types=_pairs("--type", types),
        racks=_renames(environment, rack, racks),
        fixed=_pairs("--set", fixed),
        only=_pairs("--only", only),
        driver=driver,
        system_path=system_path,
    )
    name = "standard input" if file == STDIN else file
    text = _text(data.known(environment), file)
    with data.editing("inventory import", environment, dry_run=dry_run) as edit:
        region = data.load(environment)
        done = import_hosts(region, hall, name, text, SOURCES[source], choices, prune=prune)
        changes = bool(done.added or done.changed or done.removed)
        if changes and not dry_run:
            edit.write({paths.environments() / environment / done.file: done.text})
    for note in done.notes:
        show(note, "note")
    if output is Format.JSON:
        print_json({"environment": environment, "written": changes and not dry_run, **inventory_view.to_json(done)})
        return
    for line in inventory_view.lines(f"environments/{environment}/{done.file}", name, done):
        stdout().print(line, soft_wrap=True)
    if changes:
        follow = (
            "nothing was written" if dry_run else f"next: run 'jacquard allocate {environment}' and review the change"
        )
        stdout().print(Text(follow), soft_wrap=True)


def export(
    target: _Target,
    environment: arguments.Env,
    *,
    hall: _OneHall = None,
    fixed: _Own = None,
    with_: _With = None,
    rack: _Rack = None,
    racks: _Racks = None,
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
    table = None if with_ is None else (str(with_), _text(environment, str(with_)))
    names = _renames(environment, rack, racks)
    done = export_hosts(region, hall, TARGETS[target], _pairs("--set", fixed), table, names)
    if out is not None:
        outputs.write("--out", out, done.text)
    for note in done.notes:
        show(note, "note")
    if out is None:
        write_text(done.text)
        return
    stdout().print(Text(f"{environment}: {plural(done.hosts, 'host')} in {out}"), soft_wrap=True)


def _renames(environment: str, rack: list[str] | None, racks: Path | None) -> Renames:
    """Return the racks by their foreign name, from options and a file.

    Raises:
        SpecError: the file is invalid.
    """
    pairs, problems = ({}, []) if racks is None else read_renames(str(racks), _text(environment, str(racks)))
    if problems:
        raise SpecError(environment, problems)
    return Renames(pairs={**pairs, **_pairs("--rack", rack)})


def _pairs(option: str, values: list[str] | None) -> Mapping[str, str]:
    """Return values of the form ``left=right`` as a mapping.

    ``--set`` and ``--only`` are split at the first ``=``, other options at the last.
    """
    pairs: dict[str, str] = {}
    for text in values or ():
        left, mark, right = text.partition("=") if option in {"--set", "--only"} else text.rpartition("=")
        if not (left and mark and right):
            msg = f"{option} {text}: both sides of = are required; write {option} LEFT=RIGHT, quoted if it has spaces"
            raise Stop(msg, ExitCode.BAD_DATA)
        if pairs.setdefault(left, right) != right:
            msg = f"{option} {text}: '{left}' is already set to '{pairs[left]}'; set it once"
            raise Stop(msg, ExitCode.BAD_DATA)
    return pairs


def _text(environment: str, file: str) -> str:
    """Return the text of a foreign file.

    Raises:
        SpecError: the file cannot be read.
    """
    try:
        raw = sys.stdin.buffer.read(MAX_BYTES + 1) if file == STDIN else _bytes(Path(file))
        if len(raw) <= MAX_BYTES:
            return decoded(raw)
        rule = f"has more than {MAX_BYTES // 1_000_000} MB; export one hall at a time"
    except ValueError as error:
        rule = str(error)
    except OSError as error:
        rule = f"cannot be read: {(error.strerror or str(error)).lower()}; name another file"
    raise SpecError(environment, [Problem(file, 0, "", rule)])


def _bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


app = typer.Typer(
    help="Import hosts from other systems, and export hosts to them.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)
app.command("import")(import_)
app.command("export")(export)
