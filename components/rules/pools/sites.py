"""Rule about sites: all nodes of a cluster are in one site, because training jobs do not span sites."""

from collections.abc import Iterator

from components.lookups.pools import clusters, place, problem
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem, listed, suggestion


def cluster_sites(environment: Environment) -> Iterator[Problem]:
    """Report clusters with an undeclared site, or without a site in a region with several sites."""
    names = [site.name for site in environment.region.sites]
    where = place(environment, REGION, ("sites",))
    for placed in clusters(environment):
        site, path = placed.cluster.site, (*placed.path, "site")
        if site is None and len(names) > 1:
            text = f"is required in a region of several sites ({listed(names)}, {where}); add site: {names[0]}"
            yield problem(environment, placed.file, path, text)
        elif site is not None and site not in names:
            text = (
                f"'{site}' is not a site of {where} ({listed(names)}); add it there or pick"
                f" one{suggestion(site, names)}"
            )
            yield problem(environment, placed.file, path, text)


RULES = Rules(references=(cluster_sites,))
