"""What the languages of expressions and templates are made of (controller).

``exprlang/`` reads expr-lang and ``jet/`` reads Jet, both into Jinja2's syntax trees. What they
share is here: errors, bounds, the sandbox, the paths of ``lookup()``, files. None of it knows what
a host is.
"""
