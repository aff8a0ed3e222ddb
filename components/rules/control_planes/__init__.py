"""Rules about hosted control planes, data stores and team namespaces."""
