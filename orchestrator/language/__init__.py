"""The common parts of the languages of expressions and templates (controller).

``exprlang/`` reads expr-lang and ``jet/`` reads Jet, both into Jinja2's syntax trees. This package
has their errors, limits, sandbox, paths of ``lookup()``, and files. Nothing here depends on hosts.
"""
