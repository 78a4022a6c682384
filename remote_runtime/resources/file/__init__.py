"""The file type: files and directories with their content, owner, group and mode."""
