"""The controller: reads, plans, connects and reports. Runs on the workstation, Python 3.10 and newer."""
