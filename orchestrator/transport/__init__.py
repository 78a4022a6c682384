"""Channels to hosts: ssh and local, the bootstrap, become, host keys (controller).

``Connector`` is the entry point; see docs/design/package-interfaces.md. Only the modules whose
names begin with ``ssh`` may import fabric or paramiko. They are imported when a host needs them, as
are the modules that find the route to another machine.
"""

from orchestrator.transport.command_pipe import Link
from orchestrator.transport.connection_settings import Settings
from orchestrator.transport.connector import Connector
from orchestrator.transport.credentials import Credentials

__all__ = ["Connector", "Credentials", "Link", "Settings"]
