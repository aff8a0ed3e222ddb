"""Initial files of new environments and repositories: working examples to edit."""
