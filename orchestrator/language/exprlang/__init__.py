"""Expressions in the syntax of expr-lang, which Choria CCM's manifests use (controller).

``parser`` reads a grammar that holds expr-lang's and Jinja2's and makes a Jinja2 syntax tree of it,
so that the sandbox, its bounds and its words for what is missing hold for both. It is asked only
for a string that Jinja2 itself cannot read. Operations without a node in Jinja2 are calls of
``Evaluation``, under names that begin with ``PREFIX`` and that no manifest can write.
"""

PREFIX = "xl_"
