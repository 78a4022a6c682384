"""How noop words what it would do to files and directories (target)."""

CREATED = "Would have created the file"  # also for content that differs
REMOVED = "Would have removed the file"
EMPTY = "Would have created an empty file with requested attributes"
ATTRIBUTES = "Would have updated attributes"
DIRECTORY_CREATED = "Would have created directory"
BELOW = "Would have updated attributes of %d paths in the directory"
PURGED = "Would have purged %d paths from the directory"
DIRECTORY_REMOVED = "Would have removed the directory"
DIRECTORY_REMOVED_RECURSIVELY = "Would have recursively removed the directory"
