"""The RPM database and the content of RPMs (target)."""
