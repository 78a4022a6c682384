"""The predicted target when a resource runs, which a preview reads (target)."""
