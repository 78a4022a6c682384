"""The corpus of previews: hard site changes on booted hosts, each previewed, pushed and compared.

``python -m tests.preview`` runs all scenarios of ``scenarios/*.yaml``; the suite runs those that
say ``quick``. What a scenario may hold is told in ``scenario.py``, how a prediction is judged in
``judging.py``.
"""
