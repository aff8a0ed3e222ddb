"""What a region is given by its platform: a heading a group, a paragraph a form, however many there are of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from rich.text import Text

from components.reports.prerequisites import Prerequisite, PrerequisiteForm, Prerequisites
from components.specs.reading.problems import listed
from jacquard.cli.console import plural

_NAMED = 3


def lines(found: Prerequisites) -> Iterator[Text]:
    """Yield the list, counts first."""
    total = sum(len(form.items) for form in found.forms)
    kinds = plural(len(found.forms), "kind")
    yield Text(f"{found.environment} is given {plural(total, 'thing')} of {kinds}; nothing here makes them")
    for group, forms in groupby(found.forms, lambda form: form.group):
        yield Text()
        yield Text(group.value, "bold")
        for form in forms:
            yield from _form(form)


def _form(form: PrerequisiteForm) -> Iterator[Text]:
    yield Text(f"{len(form.items):6}  {form.what}: {_places(form.items)}")
    yield Text(f"        {form.why}", "dim")
    keys = tuple(dict.fromkeys(key for item in form.items for key in item.keys))
    yield Text(f"        for    {_needers(form.items)}")
    yield Text(f"        form   {form.form}{'; keys ' + ', '.join(keys) if keys else ''}")
    yield Text(f"        make   {form.make}")


def _places(items: tuple[Prerequisite, ...]) -> str:
    names = [f"{item.namespace}/{item.name}" if item.namespace else item.name for item in items]
    clusters = dict.fromkeys(item.cluster for item in items if item.cluster)
    namespaces = dict.fromkeys(item.namespace for item in items if item.namespace)
    there = [plural(len(namespaces), "namespace")] if len(namespaces) > 1 else []
    there += [plural(len(clusters), "cluster")] if len(clusters) > 1 else [f"cluster {name}" for name in clusters]
    return f"{listed(list(dict.fromkeys(names)), _NAMED)}{' in ' + ' of '.join(there) if there else ''}"


def _needers(items: tuple[Prerequisite, ...]) -> str:
    count = Counter[str]()
    for item in items:
        count.update(item.needed_by)
    kinds = ", ".join(f"{number} {kind}" for kind, number in count.items())
    return f"{kinds}, the first {items[0].first}"
