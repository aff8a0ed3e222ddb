"""``jacquard drift``: differences between the clusters of a region and its data, and their field owners."""

from jacquard.cli import arguments, data
from jacquard.cli.console import Format, plural, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.views.changes import drift as drift_view
from jacquard.observe.clusters_compared import drift as compared


def drift(environment: arguments.Env, *, output: arguments.FormatOption = Format.TEXT) -> None:
    """Report differences between the clusters of a region and its data, by field owner.

    Compares every declared object, including hosts, with the existing one; values that the API server only normalizes
    are not differences. All requests are dry-run and change nothing. Exits with 0 without differences, with 6 if
    objects differ, and with 7 if no object differs but some could not be read.
    """
    result = compared(data.checked(environment))
    if output is Format.JSON:
        print_json(result.model_dump(mode="json"))
    else:
        for line in drift_view.lines(result):
            stdout().print(line, soft_wrap=True)
    if result.objects:
        msg = f"{environment}: {plural(len(result.objects), 'object differs', 'objects differ')} from the data"
        raise Stop(msg, ExitCode.DRIFTED)
    if result.unread:
        msg = f"{environment}: some clusters or objects could not be read, so drift is unknown"
        raise Stop(msg, ExitCode.UNREACHABLE)
