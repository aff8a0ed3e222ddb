"""Inputs of extension components: code of a repository that uses the library, in a process of its own."""
