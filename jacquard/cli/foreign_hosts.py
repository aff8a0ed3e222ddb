"""Options of the import of hosts, and the records that they select in a file or in the API of an inventory."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from components.specs.reading.problems import Problem, SpecError
from components.specs.struct import Struct
from jacquard.cli.errors import ExitCode, Stop
from jacquard.exchange.addresses import DRIVER
from jacquard.exchange.file_kinds import decoded
from jacquard.exchange.formats import SOURCES, SourceFormat
from jacquard.exchange.importing import Hosts, read_hosts
from jacquard.exchange.renames import Renames, read_renames

MAX_BYTES = 100_000_000
"""Maximum size of a foreign file in bytes; BareMetalHosts of 6,000 inspected machines are smaller."""
STDIN = "-"
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
"""Names of variables; upper case, so that a token passed instead of a name is never shown."""

SourceArgument = Annotated[SourceFormat, typer.Argument(metavar="FORMAT", help=f"One of: {', '.join(SOURCES)}.")]
FileArgument = Annotated[
    str | None,
    typer.Argument(metavar="FILE", help="File to read; - for standard input. Not with --url.", show_default=False),
]
MapOption = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="KEY=COLUMN",
        help="Source key of a column: device_type=instance_type, labels.type=instance_type. Repeatable.",
    ),
]
TypeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--type", metavar="NAME=INSTANCE_TYPE", help="Map a type name in the file to an instance type. Repeatable."
    ),
]
RackOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rack",
        metavar="NAME=RACK",
        help="Rack with another name in the file: A05=a05, or 'A*=a*' for all such names. Repeatable.",
    ),
]
RacksOption = Annotated[
    Path | None, typer.Option("--racks", metavar="FILE", help="CSV file with the columns name and rack, like --rack.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="COLUMN=VALUE",
        help="Set the default value of a column, such as leaf=leaf-a01, bmc_secret=bmc-{rack}. Repeatable.",
    ),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="KEY=VALUE",
        help="Read only matching rows: role=gpu-node. Repeatable; all conditions must match.",
    ),
]
DriverOption = Annotated[
    str | None,
    typer.Option(
        "--bmc-driver",
        metavar="DRIVER",
        help=f"Driver for BMCs given as an address. Default: the existing driver of the host, or {DRIVER}.",
        show_default=False,
    ),
]
PathOption = Annotated[
    str, typer.Option("--bmc-path", metavar="PATH", help="System path for BMCs given as an address; not for ipmi.")
]
UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="Address of NetBox or Nautobot, to read its API instead of a file.",
        show_default=False,
    ),
]
TokenOption = Annotated[
    str | None,
    typer.Option(
        "--token-env",
        metavar="NAME",
        help="Environment variable with the API token. Default: NETBOX_TOKEN or NAUTOBOT_TOKEN.",
        show_default=False,
    ),
]
FilterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="NAME=VALUE",
        help="Filter of the API: site=desk, role=gpu-node. Repeatable; values of one name are alternatives.",
    ),
]
AuthorityOption = Annotated[
    Path | None,
    typer.Option("--ca-file", metavar="FILE", help="File with the CA of the server, in PEM form.", show_default=False),
]


class Origin(Struct):
    """Source of the hosts: a file, or an API at ``url``."""

    source: SourceFormat
    file: str | None
    url: str | None = None
    token_variable: str | None = None
    filters: Sequence[str] = ()
    authority: Path | None = None

    @property
    def name(self) -> str:
        """Return the name of the source for messages."""
        return self.url or ("standard input" if self.file == STDIN else str(self.file))

    def hosts(self, environment: str) -> Hosts:
        """Return the hosts of the source.

        Raises:
            Stop: the options are inconsistent, or the API did not answer.
            SpecError: the file cannot be read.
        """
        if (self.file is None) == (self.url is None):
            msg = "name either a FILE or the address of an API by --url"
            raise Stop(msg, ExitCode.BAD_DATA)
        if self.url is not None:
            return self._hosts_of_api(self.url)
        if self.filters or self.token_variable or self.authority:
            msg = "--filter, --token-env and --ca-file are about an API; add --url, or select rows with --only"
            raise Stop(msg, ExitCode.BAD_DATA)
        return read_hosts(self.name, text_of(environment, str(self.file)), SOURCES[self.source])

    def _hosts_of_api(self, url: str) -> Hosts:
        from jacquard.exchange import api_connection, inventory_api  # noqa: PLC0415 - load the HTTP client

        api = inventory_api.APIS.get(self.source)
        if api is None:
            msg = f"--url reads {' and '.join(inventory_api.APIS)} only; name a FILE for {self.source}"
            raise Stop(msg, ExitCode.BAD_DATA)
        filters = [(name, value) for name, _, value in (text.partition("=") for text in self.filters)]
        problems = [f"--filter {text}: is not NAME=VALUE" for text in self.filters if not all(text.partition("="))]
        problems += [] if problems else inventory_api.unknown_filters(api, filters)
        if problem := api_connection.address_problem(url):
            problems.append(f"--url {problem}")
        if self.authority and (problem := api_connection.authority_problem(self.authority)):
            problems.append(f"--ca-file {self.authority} {problem}")
        variable = self.token_variable or api.token_variable
        is_name = _VARIABLE.fullmatch(variable) is not None
        token = os.environ.get(variable, "").strip() if is_name else ""
        if not is_name:
            problems.append(
                "--token-env must be the upper-case name of a variable that contains the token, not a token"
            )
        elif not api_connection.is_token(token):
            state = "contains characters that no token has" if token else "is not set"
            problems.append(f"{variable} {state}; set it to an API token that may view devices")
        if problems:
            raise Stop("\n".join(problems), ExitCode.BAD_DATA)
        connection = api_connection.Connection(
            api.title,
            url,
            authorization=api.authorization(token),
            token=token,
            variable=variable,
            authority=self.authority,
        )
        try:
            devices = inventory_api.read_devices(api, connection, filters)
        except api_connection.SourceError as error:
            raise Stop(str(error), ExitCode.UNREACHABLE) from None
        records = inventory_api.records(self.source, connection.address, devices)
        return Hosts(origin=connection.address, records=records)


def renames(environment: str, rack: list[str] | None, racks: Path | None) -> Renames:
    """Return the racks by their foreign name, from options and a file.

    Raises:
        SpecError: the file is invalid.
    """
    named, problems = ({}, []) if racks is None else read_renames(str(racks), text_of(environment, str(racks)))
    if problems:
        raise SpecError(environment, problems)
    return Renames(pairs={**named, **pairs("--rack", rack)})


def pairs(option: str, values: list[str] | None) -> Mapping[str, str]:
    """Return values of the form ``left=right`` as a mapping.

    ``--set`` and ``--only`` are split at the first ``=``, other options at the last.
    """
    by_left: dict[str, str] = {}
    for text in values or ():
        left, mark, right = text.partition("=") if option in {"--set", "--only"} else text.rpartition("=")
        if not (left and mark and right):
            msg = f"{option} {text}: both sides of = are required; write {option} LEFT=RIGHT, quoted if it has spaces"
            raise Stop(msg, ExitCode.BAD_DATA)
        if by_left.setdefault(left, right) != right:
            msg = f"{option} {text}: '{left}' is already set to '{by_left[left]}'; set it once"
            raise Stop(msg, ExitCode.BAD_DATA)
    return by_left


def text_of(environment: str, file: str) -> str:
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
