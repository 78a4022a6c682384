"""How noop words what it would do to packages (target)."""

INSTALLED = "Would have installed"
INSTALLED_LATEST = "Would have installed latest"
UPGRADED_LATEST = "Would have upgraded to latest"
INSTALLED_VERSION = "Would have installed version %s"
UPGRADED = "Would have upgraded to %s"
DOWNGRADED = "Would have downgraded to %s"
UNINSTALLED = "Would have uninstalled"
