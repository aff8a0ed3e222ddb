"""Resource providers for Pulumi's engine, and their client of the Kubernetes API."""
