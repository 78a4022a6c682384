"""The controller: reads, plans, connects and reports (workstation, Python 3.10 and newer)."""
