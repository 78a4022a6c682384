"""The part of ccm that runs on a target: standard library only, Python 3.6 and newer.

This directory is what ``orchestrator.image`` zips and sends. It imports nothing from the other
packages; the controller imports ``wire``, ``errors``, ``version`` and each type's validation from
here.
"""
