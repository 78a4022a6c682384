"""The plan files of a project, their changes and approvals (controller)."""
