"""Follows the remedies of reports literally: the edit or the command that the text of a problem names.

A text either names what to write, remove, rename or run, which ``follow`` does; or it requires input that only a user
has, which ``asks_for`` returns. Any other text has no usable remedy.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from components.specs.reading.problems import Problem, SpecError
from tests.support.checks.spans import MissingPathError, cell, find, removed, renamed, written
from tests.support.data.workbench import Workbench

_IN_MAPPING = re.compile(r"\.(?:labels|annotations)\.")
Remedy = Callable[[Workbench, Problem, re.Match[str]], None]
_MAX_STEPS = 40


@dataclass
class Followed:
    """Result of following reports until no problem is left, or user input is required."""

    done: list[Problem] = field(default_factory=list)
    """Problems with an applied remedy, in order."""
    left: tuple[Problem, ...] = ()
    """Problems of the last report."""


def follow_all(bench: Workbench) -> Followed:
    """Follow the remedies of one report after the other, the first applicable one each time.

    Raises:
        AssertionError: A message comes back, or remains after its remedy was applied.
    """
    found, gone = Followed(left=bench.problems()), set[tuple[str, str, str]]()
    while (problem := _follow_first(bench, found.left)) is not None:
        found.done.append(problem)
        before, found.left = {_position(one) for one in found.left}, bench.problems()
        now = {_position(one) for one in found.left}
        assert _position(problem) not in now or len(now) < len(before), (
            f"the remedy was applied, and the same is said: {_history(found)}"
        )
        assert not gone & now or len(now) < len(before), f"remedies lead in a circle: {_history(found)}"
        gone |= before - now
        assert len(found.done) < _MAX_STEPS, f"remedies lead on and on: {_history(found)}"
    return found


def asks_for(problem: Problem) -> str:
    """Return a short name of the user input required to fix ``problem``; empty if the text names none."""
    return next((what for what, pattern in _ASKS.items() if pattern.search(problem.text)), "")


def _follow_first(bench: Workbench, problems: tuple[Problem, ...]) -> Problem | None:
    return next((problem for problem in problems if _follow(bench, problem)), None)


def _follow(bench: Workbench, problem: Problem) -> bool:
    """Apply the remedy of ``problem``, and return whether its text names an applicable one."""
    for pattern, remedy in _REMEDIES:
        match = pattern.search(problem.text)
        if match:
            try:
                remedy(bench, problem, match)
            except (MissingPathError, SpecError):
                continue
            return True
    return False


def _position(problem: Problem) -> tuple[str, str, str]:
    """Return the message and its place; for inventories, whose line numbers change, the host."""
    where = problem.place if problem.file.endswith(".csv") else problem.file
    return where, problem.path, problem.text


def _history(found: Followed) -> str:
    applied = [f"did: {one.place} {one.path}: {one.text}" for one in found.done]
    return "\n".join(["", *applied, *(f"now: {one.place} {one.path}: {one.text}" for one in found.left)])


def _change(bench: Workbench, problem: Problem, edit: Callable[[str], str]) -> None:
    path = bench.folder / problem.file
    if not problem.path or not path.is_file():
        raise MissingPathError(problem.place)
    path.write_text(edit(path.read_text(encoding="utf-8")), encoding="utf-8")


def _write(bench: Workbench, problem: Problem, value: str) -> None:
    if problem.file.endswith(".csv"):
        _change(bench, problem, lambda text: cell(text, problem.line, problem.path, value))
    else:
        _change(bench, problem, lambda text: written(text, problem.path, value))


def _write_quoted(bench: Workbench, problem: Problem, match: re.Match[str]) -> None:
    if problem.path.endswith("." + match[1].strip('"')):
        _change(bench, problem, lambda text: renamed(text, problem.path, match[1]))
    else:
        _write(bench, problem, match[1])


def _write_meant(bench: Workbench, problem: Problem, match: re.Match[str]) -> None:
    """Write the suggested name, for the key if the key is unknown."""
    quoted = re.match(r"'([^']*)'", problem.text)
    quoted = quoted or re.search(r"\(got '([^']*)'\)", problem.text)
    is_key = "is not a key here" in problem.text or (quoted and problem.path.endswith(f".{quoted[1]}"))
    if is_key:
        _change(bench, problem, lambda text: renamed(text, problem.path, match[1]))
    else:
        _write(bench, problem, match[1])


def _write_value(bench: Workbench, problem: Problem, match: re.Match[str]) -> None:
    _write(bench, problem, match[1])


def _write_key(bench: Workbench, problem: Problem, match: re.Match[str]) -> None:
    """Write another key next to the wrong one, or instead of it."""
    key, value, instead = match.groups()
    beside = f"{problem.path.rpartition('.')[0]}.{key}".removeprefix(".")
    if instead:
        _remove(bench, problem, match)
    _change(bench, problem, lambda text: written(text, beside, value))


def _write_less(bench: Workbench, problem: Problem, match: re.Match[str]) -> None:
    def lowered(text: str) -> str:
        return written(text, problem.path, str(int(find(text, problem.path).value.value) - int(match[1])))

    _change(bench, problem, lowered)


def _remove(bench: Workbench, problem: Problem, _: re.Match[str]) -> None:
    if problem.file.endswith(".csv"):
        raise MissingPathError(problem.place)
    _change(bench, problem, lambda text: removed(text, problem.path))


def _remove_around(bench: Workbench, problem: Problem, _: re.Match[str]) -> None:
    _change(bench, problem, lambda text: removed(text, problem.path.rpartition(".")[0]))


def _remove_line(bench: Workbench, problem: Problem, _: re.Match[str]) -> None:
    path = bench.folder / problem.file
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines[: problem.line - 1], *lines[problem.line :]]), encoding="utf-8")


def _rename(bench: Workbench, problem: Problem, _: re.Match[str]) -> None:
    def other(text: str) -> str:
        if _IN_MAPPING.search(problem.path):
            return renamed(text, problem.path, "own")
        return written(text, problem.path, f"my-{find(text, problem.path).value.value[:12]}")

    _change(bench, problem, other)


def _allocate(bench: Workbench, _: Problem, match: re.Match[str]) -> None:
    bench.allocate_checked(edits_meant=bool(match[1]))


def _allocate_anew(bench: Workbench, problem: Problem, match: re.Match[str]) -> None:
    """Remove an entry of a lock file and allocate again; restore the file if that is rejected."""
    path = bench.folder / problem.file
    before = path.read_text(encoding="utf-8")
    path.write_text(removed(before, match[1]), encoding="utf-8")
    try:
        bench.allocate_checked(edits_meant=True)
    except SpecError:
        path.write_text(before, encoding="utf-8")
        raise


def _promote(bench: Workbench, _: Problem, match: re.Match[str]) -> None:
    bench.promote(match[1], match[2])


_LITERAL = r"([-\w./:\[\]]*[\d/:\[\]{}.][-\w./:\[\]]*|[a-z0-9]+(?:[-_][a-z0-9]+)*)"
_PROSE = r"(?!(?:an?|the|one|two|it|its|that|them|and|another|other|less|more|back|what|each|spaces)\b)"
_STOP = r"(?=$|[;,] | or | \(| where | first\b)"

_REMEDIES: tuple[tuple[re.Pattern[str], Remedy], ...] = tuple(
    (re.compile(pattern), remedy)
    for pattern, remedy in (
        (r"did you mean '([^']+)'\?$", _write_meant),
        (r"; is (\S+) meant\?$", _write_value),
        (r'; write a prefix of the tenant, like (".+")$', _write_value),
        (r"which is not a placeholder .*; write (\S+)$", _write_value),
        (r"; write (\w+=[^ ,]+|[^ ,]*\$\{[^ ,]+)", _write_value),
        (r'write (".+") in quotes$', _write_quoted),
        (r'; write (".+")$', _write_value),
        (r"remove (\S+) and run jacquard allocate \S+ --accept-edits", _allocate_anew),
        (r"; run jacquard allocate \S+( --accept-edits)?$", _allocate),
        (r"jacquard promote \S+ (\S+) --to (\S+)", _promote),
        (r"; (?:write|add) (\w+): (?!\S+ to )([^;,]+?)( instead)?(?:, or .*)?$", _write_key),
        (r"(?:; |, )write (?:at (?:least|most) |one of |one from )?" + _PROSE + _LITERAL + _STOP, _write_value),
        (r"; write one of ([-\w./]+)", _write_value),
        (r"; write (\S*<tenant>\S*), or (?:add )?a waiver", _write_value),
        (r"; write a size like (\S+)$", _write_value),
        (r"; write a range without it, such as (\S+)", _write_value),
        (r"; write (\S+) or later$", _write_value),
        (r", or write (\w+): (\[\])()$", _write_key),
        (r", or write ([a-z]+)$", _write_value),
        (r"; write ([a-z]+_[a-z_]+)$", _write_value),
        (r"lower nodes to (\d+)", _write_value),
        (r"lower it by (\d+)", _write_less),
        (r"; (?:remove or )?pick (?:one of )?" + _PROSE + r"([-\w.]+)(?=$|[;,])", _write_value),
        (r"\(declared: (?!none\))([-\w.]+).*pick one", _write_value),
        (r"; remove the (?:pool|contract)", _remove_around),
        (r"; remove (?:it|one)(?:$| or |,)", _remove),
        (r"or remove it$", _remove),
        (r"remove it here", _remove),
        (r"is defined (?:twice|\d+ times), first on line \d+; keep one of (?:the two|them)$", _remove_line),
        (r"; remove the line$", _remove_line),
        (r"; rename (?:it|one)$", _rename),
        (r"^must be one of ([-\w./]+)", _write_value),
        (r"^must be (?:at least|at most) (\d+)", _write_value),
        (r"^must be (true) or false", _write_value),
        (r"\blike (\S+) \(got", _write_value),
    )
)
"""Functions that apply a remedy, by pattern of the text; the first match is used."""

_ASKS = {
    what: re.compile("|".join(pattern.split(" | ")))
    for what, pattern in {
        "hardware": (
            "add (a rack|racks|a controller|one there) | raise it (to the|up to|if it) | no more capacity | "
            "another rack"
        ),
        "a fact of a machine": (
            "has no valid host | is an IPv6 address | "
            "correct (it|the address|one of the two|fits) | remove '[=+@-]' | write the BMC as | "
            "its IPv4 | "
            "store them in Secret | write the IPv4 | interface name | unicast address | name each port | "
            "must not be a UUID | list each member | disk to boot from | "
            "write the (values of this host|hosts of this hall) | "
            "disk to which | write its model | amd_iommu=on or | share one VLAN"
        ),
        "a free number or network": (
            "move (one|it) | write a (network|range within|wider (range|network)) | pick (another|an address) | "
            "a subnet of it | widen "
        ),
        "an entry of the catalogue": (
            "add (a separate|(it|them) there|it again|a data store|one to|one of the two) | "
            "add (an|a compatible) image | build the image with | "
            "add the version | "
            "take a newer release | "
            "use releases of the same minor | "
            "restore the digest | the (digest|URL|version) of each | write (a release of|such a) | "
            "add an add-on | add a row for each | a release that both | "
            "update jacquard | newer release | add one of http | https URL as http"
        ),
        "the file as it was": (
            "with git checkout | take either side | remove the file | write it back | restore | resolve it "
        ),
        "well-formed text": (
            "close it | align the key | put the text | one plain document | save the file | a key needs | "
            "anchors | tags | merge keys | a key must be | write its name | the header | one for each "
            "| whole values | plain space | a comma | in column | in quotes"
        ),
        "a value": (
            "another data store | group of the tenant | write one from | larger one | "
            "is required | must (be|look|not be|have)  | write { | needs at least | another (name|time) | "
            "contains the placeholder | a larger size | "
            "a later | shorten | a key in another domain | belongs to the golden image | starts pods | "
            "exposes data | remove the login | write <tenant>$ | resolved path | (name|address) of a server | "
            "add (one of|it with|mail|observability)"
        ),
        "a decision": (
            "than these quotas | "
            "make (a new|two|one of|the pools|its pools) | create | merge | use a | keep one | list  | raise  | "
            "lower  | one of the needs | add one with | from add_ons | remove '[-a-z]+' from | "
            "permit TCP port | remove the taint | other hours | "
            "write (one|a number|a version) from | split | write (a group|that|at most that|at least that|less) | "
            "promote (to|the pools) "
            "| of its own | leave  | move it there | pick one | instead | remove one | "
            "a cluster (for each|without) | rename | may have at most | is not a key here | start another | "
            "next to kubelet | such as | list the gates | add the claim | reserved value | or (add )?a waiver | "
            "default: true on one | the default there | (in(to)?|to) (the|a) Secret | one of these | remove them | "
            "add these | until the pool is promoted | to add_ons | add nodes of a pool | a team for each | "
            "remove taints | to taints | another pool | a higher one | offer a class | to its access"
        ),
    }.items()
}
"""Short names of required user input, by pattern of the text."""
