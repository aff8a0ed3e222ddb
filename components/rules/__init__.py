"""Cross-checks over a region: functions from an environment to problems, listed in ``components.rules.checks``."""
