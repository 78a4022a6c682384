"""Runs many hosts in parallel: the window, the run of one host, the event bus and the run
directory.
"""
