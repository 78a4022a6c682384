"""The commands push, plan, drift, run, fetch and verify, from a request to a result (controller).

A front end, such as the command line, creates a ``RunRequest``, calls the function of the command
with a ``Reporter``, and shows the ``RunResult``. Nothing in this package prints, reads from a
terminal, exits or reads flags.
"""
