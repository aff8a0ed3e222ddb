"""Cross-checks over a region: plain functions from an environment to problems, listed in ``components.plan.checks``."""
