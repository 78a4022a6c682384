"""How noop words commands (target)."""

EXECUTED = "Would have executed"
EXECUTED_BY_SUBSCRIBE = "Would have executed via subscribe"
