"""Service discovery (controller): registrations of stable resources, and lookups.

``entry`` is one registered endpoint, a ``store`` contains entries (``json_file``, ``nats_stream``),
``publisher`` sends those of a run to it, and ``lookup`` answers the templates of a run.
"""
