"""The same commands on every engine: whatever works on the hosts, people see the same."""
