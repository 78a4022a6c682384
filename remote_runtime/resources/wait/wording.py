"""How noop words waiting (target)."""

WAITED = "Would have waited until %s"
SUPPOSED = "Would have waited"
