"""How noop words what it would do to services (target)."""

STARTED = "Would have started"
STOPPED = "Would have stopped"
ENABLED = "Would have enabled"
DISABLED = "Would have disabled"
RESTARTED = "Would have restarted via subscribe"
