"""Life cycle of hosts: states, allowed transitions, deadlines and required test reports."""
