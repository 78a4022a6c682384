"""How noop words a reboot (target)."""

REBOOTED = "Would have rebooted"
REBOOTED_BY_SUBSCRIBE = "Would have rebooted via subscribe"
