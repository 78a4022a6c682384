"""link: a symlink and its target (controller)."""

from orchestrator.verify.expectation import Expectation, Host, answer, equal
from orchestrator.verify.paths import absent, kind, of_kind
from orchestrator.verify.subject import Subject


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations for a symlink, or for its absence."""
    path = subject.name
    if subject.get("ensure", "present") == "absent":
        return absent(path)

    def text(host: Host) -> str:
        """The target of the symlink."""
        return answer(host, "readlink -n -- %s", path, problem=f"there is no symlink at {path}")

    at_path = of_kind(path, "a symlink")._replace(tell=lambda host, _: kind(host, path))
    return [at_path, equal("target", subject.text("target"), text)]
