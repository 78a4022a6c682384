"""Whole Jinja2 templates in the sandbox of expressions (controller).

    library = library_of(directory, lenient=False)          # one for a manifest and a run
    template = library.load("templates/vhost.j2")        # compiled once; InputError
    template.check(("item", "port"))                     # InputError: a name that nothing sets
    text = render(template, scope.names)                 # for each host; EvaluationError

``environment`` compiles, ``library`` finds the templates that others include and import, ``checks``
finds problems without a host, and ``run`` renders and adds positions to errors.
"""

from orchestrator.language.jinja.rendering import render
from orchestrator.language.jinja.template_library import Library, LoadedTemplate, library_of

__all__ = ["Library", "LoadedTemplate", "library_of", "render"]
