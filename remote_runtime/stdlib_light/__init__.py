"""Lightweight replacements for the parts of expensive modules that a run needs (target).

Every push starts the runtime again on every host. For a host that is already in the desired state,
imports cost more than the work: for 100 resources, they took 35 ms of 62 ms of CPU time. Each
module here replaces a module of the standard library that imports many others. It is based on the
part of that module that is written in C, and falls back on the module itself if a Python lacks this
part:

=============  ===============  =============================================================
here           stands for       which costs
=============  ===============  =============================================================
json_text      ``json``         ``re``, for a decoder that its C part does without
sha256_digest  ``hashlib``      OpenSSL, 2 ms
threads        ``threading``    ``functools`` and ``collections``, more than gathering facts
spawning       ``subprocess``   ``signal``, ``enum`` and ``re``, as long as several queries
named_tuple    ``typing``       several ms, and a ``__new__`` to compile for each class
=============  ===============  =============================================================

A module belongs here only as long as measurements justify it. Modules that are needed only for a
change (``re``, ``difflib``, ``subprocess``) are imported in the functions that make it.
``tests/orchestrator/image/test_start.py`` lists the modules that a converged run must not import;
``orchestrator.image.minifier`` removes the parts of the shipped files that only people read.
"""
