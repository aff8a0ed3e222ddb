"""Prerequisites of a region as text: a heading per group, and a paragraph per form for any number of objects."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from rich.text import Text

from components.reports.prerequisites import Prerequisite, PrerequisiteForm, Prerequisites
from components.specs.reading.problems import listed
from jacquard.cli.console import plural

_NAMED = 3


def lines(prerequisites: Prerequisites) -> Iterator[Text]:
    """Yield the list of prerequisites, with the total first."""
    total = sum(len(form.items) for form in prerequisites.forms)
    kinds = plural(len(prerequisites.forms), "kind")
    total_text = plural(total, "prerequisite")
    yield Text(f"{prerequisites.environment} requires {total_text} of {kinds}, which Jacquard does not create")
    for group, forms in groupby(prerequisites.forms, lambda form: form.group):
        yield Text()
        yield Text(group.value, "bold")
        for form in forms:
            yield from _form(form)


def _form(form: PrerequisiteForm) -> Iterator[Text]:
    yield Text(f"{len(form.items):6}  {form.what}: {_places(form.items)}")
    yield Text(f"        {form.why}", "dim")
    keys = tuple(dict.fromkeys(key for item in form.items for key in item.keys))
    yield Text(f"        used by  {_users(form.items)}")
    yield Text(f"        form     {form.form}{'; keys ' + ', '.join(keys) if keys else ''}")
    yield Text(f"        create   {form.make}")


def _places(items: tuple[Prerequisite, ...]) -> str:
    names = [f"{item.namespace}/{item.name}" if item.namespace else item.name for item in items]
    clusters = dict.fromkeys(item.cluster for item in items if item.cluster)
    namespaces = dict.fromkeys(item.namespace for item in items if item.namespace)
    places = [plural(len(namespaces), "namespace")] if len(namespaces) > 1 else []
    places += [plural(len(clusters), "cluster")] if len(clusters) > 1 else [f"cluster {name}" for name in clusters]
    return f"{listed(list(dict.fromkeys(names)), _NAMED)}{' in ' + ' of '.join(places) if places else ''}"


def _users(items: tuple[Prerequisite, ...]) -> str:
    count = Counter[str]()
    for item in items:
        count.update(item.needed_by)
    kinds = ", ".join(f"{number} {kind}" for kind, number in count.items())
    return f"{kinds}, the first {items[0].first}"
