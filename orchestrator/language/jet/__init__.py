"""The Jet template language, compiled to Jinja2 syntax trees (controller).

    library = Library(Directory(path))                      # once per run; caches templates
    template = library.load("motd.jet")                  # InputError: every mistake, with positions
    text = render(template, scope.names)                 # per host; EvaluationError

The stages: ``lexer`` (actions and tokens), ``parser`` (the tree of ``syntax``), ``checks``
(names, functions, arguments), ``compiler`` (a Jinja2 tree of calls into a ``Run``). Values behave
(``values``, ``functions``) as in Go, not as in Python.
"""

from orchestrator.language.jet.lexer import Delimiters
from orchestrator.language.jet.rendering import render
from orchestrator.language.jet.template_library import Library, Template, library_of, text_problems

__all__ = ["Delimiters", "Library", "Template", "library_of", "render", "text_problems"]
