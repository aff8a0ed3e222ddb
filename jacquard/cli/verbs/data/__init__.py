"""Verbs that read and write the data files of environments, without an engine or a cluster."""
