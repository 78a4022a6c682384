"""How noop words what it would do to the files of a scaffold (target)."""

DIRECTORY_CREATED = "Would have created directory"
CHANGED = "Would have changed %d scaffold files"
DIRECTORIES_REMOVED = "Would have removed %d empty scaffold directories"
REMOVED = "Would have removed %d scaffold files"
