"""The common parts of the languages of expressions and templates (controller).

``exprlang/`` reads expr-lang and ``jet/`` reads Jet, both into Jinja2's syntax trees. These are
errors, limits, the sandbox, the paths of ``lookup()``, and files. None of it depends on hosts.
"""
