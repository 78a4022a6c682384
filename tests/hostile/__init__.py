"""Campaigns against ccm: seconds of each in CI, as long as you like by ``python -m tests.hostile``.

A campaign is a module here with ``TITLE`` and ``run(seconds, seed) -> Figures``; so it is found.
"""
