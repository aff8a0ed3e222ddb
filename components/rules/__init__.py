"""Cross-file rules of a region: functions from an environment to problems, listed in ``components.rules.checks``."""
