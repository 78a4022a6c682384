"""How noop words what it would do: the one table, for all types (target).

The words are those of CCM's design documents; where they have none, ours follow their pattern.
"""

FILE_CREATED = "Would have created the file"  # also for content that differs
FILE_REMOVED = "Would have removed the file"
FILE_EMPTY = "Would have created an empty file with requested attributes"
FILE_ATTRIBUTES = "Would have updated attributes"
DIRECTORY_CREATED = "Would have created directory"
DIRECTORY_REMOVED = "Would have removed the directory"
DIRECTORY_REMOVED_RECURSIVELY = "Would have recursively removed the directory"

EXECUTED = "Would have executed"
EXECUTED_BY_SUBSCRIBE = "Would have executed via subscribe"

PACKAGE_INSTALLED = "Would have installed"
PACKAGE_INSTALLED_LATEST = "Would have installed latest"
PACKAGE_UPGRADED_LATEST = "Would have upgraded to latest"
PACKAGE_INSTALLED_VERSION = "Would have installed version %s"
PACKAGE_UPGRADED = "Would have upgraded to %s"
PACKAGE_DOWNGRADED = "Would have downgraded to %s"
PACKAGE_UNINSTALLED = "Would have uninstalled"

SERVICE_STARTED = "Would have started"
SERVICE_STOPPED = "Would have stopped"
SERVICE_ENABLED = "Would have enabled"
SERVICE_DISABLED = "Would have disabled"
SERVICE_RESTARTED = "Would have restarted via subscribe"

ARCHIVE_DOWNLOADED = "Would have downloaded"
ARCHIVE_EXTRACTED = "Would have extracted"
ARCHIVE_CLEANED_UP = "Would have cleaned up"
ARCHIVE_REMOVED = "Would have removed"
ARCHIVE_JOIN = ". "  # archive joins its actions as sentences

SCAFFOLD_CHANGED = "Would have changed %d scaffold files"
SCAFFOLD_REMOVED = "Would have removed %d scaffold files"

APPLIED = "Would have applied changes"
