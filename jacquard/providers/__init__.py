"""Servers that Pulumi's engine talks to, and the client of the Kubernetes API they share."""
