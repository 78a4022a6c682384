"""What holds for every resource type, ccm's own and a site's: one suite, no list of types.

A type brings its scenarios as ``cases/TYPE.py``; see ``scenario.py`` for what stands in it.
"""
