"""Data from other machines, read once for all manifests of a run (controller)."""

from __future__ import annotations

from orchestrator.planning.plan_options import PlanOptions
from orchestrator.sources.address import SourceError, is_url
from orchestrator.sources.url_text import Access, read_text
from remote_runtime.errors import InputError, Problem


def fetched(options: PlanOptions) -> PlanOptions:
    """The options with the text of each URL in ``hiera``. InputError with every problem.

    Without ``contact``, some texts may be missing.
    """
    urls = [name for name in options.hiera if is_url(name) and name not in options.fetched]
    if not urls:
        return options
    access = Access(options.source_hosts, options.contact, options.nats or "", options.registration)
    texts = dict(options.fetched)
    problems: list[Problem] = []
    for name in dict.fromkeys(urls):
        try:
            text = read_text(name, access)
        except SourceError as error:
            message = f"--hiera: {error.message}"
            problems.append(Problem(message, None, error.hint, error.kind))
            continue
        if text is not None:
            texts[name] = text
    if problems:
        raise InputError(problems)
    return options._replace(fetched=texts)
