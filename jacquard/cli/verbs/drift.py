"""``jacquard drift``: differences between the clusters of a region and its data, and their field owners."""

from jacquard.cli import arguments, data
from jacquard.cli.console import Format, plural, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.runs.metrics import RunMetrics, measured
from jacquard.cli.views.changes import drift as drift_view
from jacquard.observe.clusters_compared import drift as compared
from jacquard.observe.drift import Drift


def drift(
    environment: arguments.Env,
    *,
    metrics_file: arguments.MetricsFileOption = None,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Report differences between the clusters of a region and its data, by field owner.

    Compares every declared object, including hosts, with the existing one; values that the API server only normalizes
    are not differences. All requests are dry-run and change nothing. Exits with 0 without differences, with 6 if
    objects differ, and with 7 if no object differs but some could not be read.
    """
    ends = frozenset({ExitCode.OK, ExitCode.DRIFTED})
    with measured(metrics_file, RunMetrics("drift", environment, ends)) as metrics:
        result = compared(data.checked(environment))
        metrics.set("jacquard_drift_objects", len(result.objects))
        metrics.set("jacquard_drift_unread_objects", len(result.unread))
        _show(environment, result, output)


def _show(environment: str, result: Drift, output: Format) -> None:
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
