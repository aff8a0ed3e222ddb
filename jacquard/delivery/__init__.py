"""Objects of an environment as a folder that a GitOps controller applies, instead of Pulumi."""
