"""``jacquard drift``: what in the clusters of a region is not as it is declared, and who owns what differs."""

from __future__ import annotations

from jacquard.cli import arguments, data
from jacquard.cli.console import Format, plural, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.views.changes import drift as drift_view
from jacquard.observe.clusters_compared import drift as looked_at


def drift(environment: arguments.Env, *, output: arguments.FormatOption = Format.TEXT) -> None:
    """Tell what in the clusters of a region is not as it is declared, by who owns it now.

    Compares every declared object, hosts too, with the one that is there; what the API server only spells otherwise is
    no difference. Applies nothing but dry-runs, which keep nothing. Ends with 0 when all is as declared, with 6
    when something is not, and with 7 when nothing is wrong as far as could be seen, but not all could be.
    """
    found = looked_at(data.checked(environment))
    if output is Format.JSON:
        print_json(found.model_dump(mode="json"))
    else:
        for line in drift_view.lines(found):
            stdout().print(line, soft_wrap=True)
    if found.objects:
        msg = f"{environment}: {plural(len(found.objects), 'object is', 'objects are')} not as declared"
        raise Stop(msg, ExitCode.DRIFTED)
    if found.unread:
        msg = f"{environment}: not all could be read, so that nobody knows whether it is as declared"
        raise Stop(msg, ExitCode.UNREAD)
