"""Expressions in the syntax of expr-lang, which Choria CCM's manifests use (controller).

``parser`` reads a grammar of expr-lang and Jinja2, and creates a Jinja2 syntax tree. The sandbox,
its limits and its errors for missing values therefore apply to both. It is used only for a string
that Jinja2 itself cannot read. Operations without a node in Jinja2 are calls of ``Evaluation``,
under names that begin with ``PREFIX``, which no manifest can contain.
"""

PREFIX = "xl_"
