"""Service discovery (controller): what stable resources announce, and who asks for it.

``entry`` is one announced endpoint, a ``store`` keeps entries (``json_file``, ``nats_stream``),
``publisher`` hands the stable ones of a run to it, ``lookup`` answers the templates of a run.
"""
