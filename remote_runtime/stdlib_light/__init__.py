"""The little that a run needs of costly modules and commands, without them (target).

Every push starts the runtime again on every host. For a host that is as it should be, imports cost
more than the work: of 62 ms of CPU for 100 resources 35 ms were. Each module here stands for one of
the standard library that imports many others, builds on the part of it that is written in C, and
falls back on the module itself where a Python has no such part:

==========  ===============  =============================================================
here        stands for       which costs
==========  ===============  =============================================================
jsontext    ``json``         ``re``, for a decoder that its C part does without
digest      ``hashlib``      OpenSSL, 2 ms
threads     ``threading``    ``functools`` and ``collections``, more than gathering facts
spawning    ``subprocess``   ``signal``, ``enum`` and ``re``, as long as several queries
tuples      ``typing``       several ms, and a ``__new__`` to compile for each class
==========  ===============  =============================================================

A module belongs here only while a measurement says so. What a run needs only when it changes
something (``re``, ``difflib``, ``subprocess``) is imported in the function that does.
``tests/orchestrator/image/test_start.py`` holds the list of what a converged run may not import,
``orchestrator.image.minifier`` takes out of the shipped files what only people read.
"""
