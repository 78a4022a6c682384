"""The plan files of a project: which there are, what they do and who approved them (controller)."""
