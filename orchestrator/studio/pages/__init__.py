"""The content of pages: templates and their values from queries, without HTTP (controller)."""
