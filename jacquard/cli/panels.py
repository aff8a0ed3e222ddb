"""Verbs of the ``jacquard`` command by help panel. Each is a separate module, which is loaded when it is called."""

from jacquard.cli.verb import Verb

PANELS: dict[str, tuple[Verb, ...]] = {
    "Change a region": (
        Verb(
            "up",
            "jacquard.cli.verbs.up:up",
            "Apply an environment and wait until it is ready.",
            ("jacquard up edge-1", "jacquard up us-west-1 --yes", "jacquard up edge-1 --refresh"),
        ),
        Verb(
            "preview",
            "jacquard.cli.verbs.preview:preview",
            "Show the changes 'up' would make and policy violations, or the effect of a change before it is merged.",
            ("jacquard preview edge-1 --diff", "jacquard preview edge-1 --base origin/main --out .preview"),
        ),
        Verb(
            "impact",
            "jacquard.cli.verbs.impact:impact",
            "Report the effect of a change on nodes, tenants and the rest of a region, before it is merged.",
            (
                "jacquard impact",
                "jacquard impact edge-1 --base origin/main --format json",
                "jacquard impact edge-1 --facts facts.json --html report.html",
            ),
        ),
        Verb(
            "comment",
            "jacquard.cli.verbs.comment:comment",
            "Create or update the comment of a pull request, at GitHub or GitLab.",
            ("jacquard comment impact.md", "jacquard comment .preview/*/comment.md --required"),
        ),
        Verb(
            "approve",
            "jacquard.cli.verbs.approve:approve",
            "Record that a tenant approves a change.",
            ('jacquard approve edge-1 first --base origin/main --by "Ann, first.example" --ticket CHG-7',),
        ),
        Verb(
            "gc",
            "jacquard.cli.verbs.gc:gc",
            "Delete unreferenced templates and golden volumes of earlier rollouts.",
            ("jacquard gc edge-1",),
        ),
        Verb(
            "rehearse",
            "jacquard.cli.verbs.data.rehearse:rehearse",
            "Copy a region as a rehearsal of the same data, which runs on this machine.",
            ("jacquard rehearse us-west-1 trial", "jacquard rehearse us-west-1 trial --tenant first"),
        ),
        Verb(
            "down",
            "jacquard.cli.verbs.down:down",
            "Destroy an environment.",
            ("jacquard down edge-1",),
        ),
    ),
    "Inspect a region": (
        Verb(
            "status",
            "jacquard.cli.verbs.status:status",
            "Show the current state of a region.",
            ("jacquard status edge-1", "jacquard status edge-1 --format json > evidence.json"),
        ),
        Verb(
            "facts",
            "jacquard.cli.verbs.facts:facts",
            "Record the jobs and faults of each node of a region, for 'jacquard impact --facts'.",
            (
                "jacquard facts edge-1 --out facts.json",
                "jacquard facts edge-1 --metrics http://127.0.0.1:8481/select/0/prometheus --out facts.json",
            ),
        ),
        Verb(
            "drift",
            "jacquard.cli.verbs.drift:drift",
            "Report differences between the clusters of a region and its data, by field owner.",
            ("jacquard drift edge-1", "jacquard drift edge-1 --format json > drift.json"),
        ),
        Verb(
            "audit",
            "jacquard.cli.verbs.audit:audit",
            "Judge the recorded state of a region, its live objects or its past changes by the current policies.",
            (
                "jacquard audit edge-1",
                "jacquard audit edge-1 --live --format sarif > audit.sarif",
                "jacquard audit edge-1 --history v1..main",
            ),
        ),
        Verb(
            "show",
            "jacquard.cli.verbs.show:show",
            "Show resolved values and their origin, or a report about a region.",
            (
                "jacquard show edge-1 tenants.first",
                "jacquard show edge-1 capacity",
                "jacquard show edge-1 images",
                "jacquard show edge-1 enrolment --live",
            ),
        ),
        Verb(
            "fleet",
            "jacquard.cli.verbs.fleet:fleet",
            "Show capacity, images and open rollouts of all regions.",
            ("jacquard fleet", "jacquard fleet --drift edge-1.json", "jacquard fleet --format json > fleet.json"),
        ),
        Verb(
            "backstage",
            "jacquard.cli.verbs.backstage:backstage",
            "Print regions, tenants, clusters and pools as entities of Backstage's catalog, in YAML.",
            (
                "jacquard backstage --out catalog-info.yaml",
                "jacquard backstage edge-1 --owner group:default/infra --grafana https://grafana.example",
            ),
        ),
        Verb(
            "logs",
            "jacquard.cli.verbs.logs:logs",
            "Show the logs of a local region's components.",
            ("jacquard logs edge-1", "jacquard logs edge-1 operators --follow"),
        ),
        Verb(
            "env",
            "jacquard.cli.verbs.env:env",
            "Print environment variables for plain pulumi and kubectl.",
            ('eval "$(jacquard env edge-1)"',),
        ),
    ),
    "Edit data": (
        Verb(
            "new",
            "jacquard.cli.verbs.data.new:new",
            "Create the files of a new environment.",
            (
                "jacquard new edge-1",
                "jacquard new us-west-1 --like edge-1 --halls a,b",
                "jacquard new edge-1 --repository regions",
            ),
        ),
        Verb(
            "check",
            "jacquard.cli.verbs.check:check",
            "Check data and policies, without an engine or a cluster.",
            ("jacquard check", "jacquard check edge-1 --format sarif > check.sarif"),
        ),
        Verb(
            "explain",
            "jacquard.cli.verbs.explain:explain",
            "Describe a rule: its findings, reason and level, and whether it can be waived.",
            ("jacquard explain unpinned-image", "jacquard explain"),
        ),
        Verb(
            "render",
            "jacquard.cli.verbs.render:render",
            "Write every object as a YAML file, or show the rendered differences of a change.",
            (
                "jacquard render edge-1 --out out",
                "jacquard render edge-1 --out regions/edge-1 --gitops flux",
                "jacquard render edge-1 --base origin/main",
            ),
        ),
        Verb(
            "allocate",
            "jacquard.cli.verbs.data.allocate:allocate",
            "Allocate the numbers and hosts that the data leave open.",
            ("jacquard allocate edge-1", "jacquard allocate edge-1 --replace-hosts first-train/train"),
        ),
        Verb(
            "place",
            "jacquard.cli.verbs.data.place:place_order",
            "Place an order in a region of the fleet.",
            ("jacquard place first-order --dry-run", "jacquard place first-order"),
        ),
        Verb(
            "campaign",
            "jacquard.cli.verbs.data.campaign:campaign",
            "Show or write the next step of a promotion over several regions.",
            (
                "jacquard campaign first-campaign",
                "jacquard campaign first-campaign --evidence us-west-1.json --write",
            ),
        ),
        Verb(
            "host",
            "jacquard.cli.verbs.data.host:host",
            "Move hosts to another state of their life cycle.",
            (
                'jacquard host edge-1 a01-u03 --to triage --reason "GPU 5 fell off the bus"',
                'jacquard host edge-1 --rack a01 --to triage --reason "rack a01 lost power"',
                "jacquard host edge-1 a01-u03 --to production --evidence report.json",
            ),
        ),
        Verb(
            "reconcile-hosts",
            "jacquard.cli.verbs.data.reconcile_hosts:reconcile_hosts",
            "Propose edits of the data for changes that controllers made to hosts.",
            ("jacquard reconcile-hosts edge-1", "jacquard reconcile-hosts edge-1 --write"),
        ),
        Verb(
            "promote",
            "jacquard.cli.verbs.promote:promote",
            "Change the pins of a pool, of DPUs, of a chart or of a control plane.",
            (
                "jacquard promote edge-1 first-train/train --to gpu-2026.11.1 --wave 1",
                "jacquard promote edge-1 first-train/train --plan",
                "jacquard promote edge-1 first-train --to v1.36.1",
                "jacquard promote edge-1 dpus",
            ),
        ),
        Verb(
            "migrate",
            "jacquard.cli.verbs.data.migrate:migrate",
            "Migrate data files to the current format.",
            ("jacquard migrate --check", "jacquard migrate edge-1"),
        ),
        Verb(
            "upgrade",
            "jacquard.cli.verbs.data.upgrade:upgrade",
            "Upgrade a repository of regions to the installed version.",
            ("jacquard upgrade --check", "jacquard upgrade"),
        ),
        Verb(
            "schema",
            "jacquard.cli.verbs.data.schema:schema",
            "Check or write schemas, editor headers and reference pages.",
            ("jacquard schema --write",),
        ),
        Verb(
            "inventory",
            "jacquard.cli.verbs.data.inventory:app",
            "Import hosts from other systems, compare them, and export hosts to other systems.",
            (
                "jacquard inventory import eks-a-csv hardware.csv --env edge-1 --hall a --dry-run",
                "jacquard inventory diff netbox --url https://netbox.example --env edge-1 --hall a",
                "jacquard inventory export netbox edge-1 --out devices.csv",
            ),
        ),
    ),
    "This machine": (
        Verb(
            "setup",
            "jacquard.cli.verbs.machine:setup",
            "Prepare this machine for up and preview.",
            ("jacquard setup",),
        ),
        Verb(
            "doctor",
            "jacquard.cli.verbs.machine:doctor",
            "Show the tools and settings of this machine, and missing ones.",
            ("jacquard doctor",),
        ),
    ),
}
"""Verbs of ``jacquard --help``, by the title of their panel."""
VERBS = {verb.name: verb for verbs in PANELS.values() for verb in verbs}
