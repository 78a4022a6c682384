"""The template languages that a directory of files may be written in (controller).

engine = make_engine("jet", None, directory=Directory(path), prefix="templates/app/")
compiled = engine.compile("main.conf", text)                        # once per run; InputError
text = compiled.render(rendering, ())                               # per host; EvaluationError
"""

from orchestrator.language.manifest_directory import Directory
from orchestrator.templates.engines.base import Engine
from remote_runtime.errors import InputError, Problem

ENGINES = ("jet", "go", "jinja")


def make_engine(
    name: str,
    delimiters: tuple[str, str] | None,
    *,
    directory: Directory,
    prefix: str,
    added: tuple[str, ...] = (),
) -> Engine:
    """The engine of that name; InputError if it is not available.

    With ``delimiters`` None, those of the language are used. Positions begin with ``prefix``.
    ``added`` has names in addition to those of every template.
    """
    if name == "jet":
        from orchestrator.templates.engines.jet import JetEngine

        return JetEngine(delimiters, directory, prefix, added)
    if name == "go":
        from orchestrator.templates.engines.go import GoEngine

        return GoEngine(delimiters, prefix)
    if name == "jinja":
        from orchestrator.templates.engines.jinja import JinjaEngine

        return JinjaEngine(delimiters, directory, prefix, added)
    raise InputError([Problem(f"there is no engine {name!r}, only {', '.join(ENGINES)}")])
