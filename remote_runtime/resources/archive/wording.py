"""How noop words downloads and extractions (target)."""

DOWNLOADED = "Would have downloaded"
EXTRACTED = "Would have extracted"
CLEANED_UP = "Would have cleaned up"
REMOVED = "Would have removed"
JOIN = ". "  # archive joins its actions as sentences
