"""The part of ccm that runs on a target: standard library only, Python 3.6 and newer.

This directory is what ``orchestrator.image`` zips and ships. It imports nothing of its siblings;
the controller imports ``wire``, ``errors``, ``version`` and each type's validation from here.
"""
