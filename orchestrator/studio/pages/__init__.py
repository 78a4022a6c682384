"""The content of the pages: from queries to templates and their values, without HTTP
(controller)."""
