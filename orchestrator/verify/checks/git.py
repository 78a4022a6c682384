"""git: the files of the repository, and git for data that only git can read (controller)."""

from orchestrator.verify.expectation import Expectation, Host, answer, equal
from orchestrator.verify.paths import absent, directory, ownership
from orchestrator.verify.subject import Subject

_COMMIT = (40, 64)  # digits


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations for a checkout of the URL at the ref, or for its absence."""
    path = subject.name
    if subject.get("ensure", "present") == "absent":
        return absent(path)
    expectations = [
        directory(path)[0],
        equal("url", subject.text("url"), lambda host: _setting(host, path, "origin")),
        equal("commit", True, lambda host: _is_at(host, path, subject.text("ref"))),
        *ownership(subject),
    ]
    if subject.get("submodules", True):
        expectations.append(equal("submodules", "", lambda host: _outdated(host, path)))
    if subject.get("force", False):
        expectations.append(equal("changes", "", lambda host: _git(host, path, _CHANGED)))
    return expectations


_CHANGED = "status --porcelain --untracked-files=no --ignore-submodules=all"


def _read(host: Host, path: str, name: str) -> str:
    """The text of a file in the repository; RuntimeError if it cannot be read."""
    problem = f"there is no repository at {path}"
    return answer(host, "cat -- %s", f"{path}/.git/{name}", problem=problem)


def _setting(host: Host, path: str, remote: str) -> str:
    """The URL of a remote, from the configuration file."""
    section = ""
    for line in _read(host, path, "config").splitlines():
        text = line.strip()
        if text.startswith("["):
            section = text
        key, _, value = text.partition("=")
        if section == f'[remote "{remote}"]' and key.strip() == "url":
            return value.strip()
    return ""


def _is_at(host: Host, path: str, ref: str) -> bool:
    """Whether HEAD is the ref, according to the repository."""
    head = _head(host, path)
    if len(ref) in _COMMIT and set(ref) <= set("0123456789abcdef"):
        return head == ref
    if not ref:  # the default branch, whose name the checkout has
        ref = _read(host, path, "HEAD").strip().removeprefix("ref: ")
        if not ref.startswith("refs/heads/"):
            return False
    name = ref.removeprefix("refs/heads/").removeprefix("refs/tags/")
    known = []
    for full in (f"refs/remotes/origin/{name}", f"refs/tags/{name}"):
        if not ref.startswith("refs/tags/") or full == ref:
            known.append(_git(host, path, f"rev-parse -q --verify {full}^{{commit}} || true"))
    return bool(head) and head in known


def _head(host: Host, path: str) -> str:
    """The commit of HEAD, from the files of the repository."""
    head = _read(host, path, "HEAD").strip()
    if not head.startswith("ref: "):
        return head
    name = head.removeprefix("ref: ")
    result = host.run("cat -- %s", f"{path}/.git/{name}")
    if not result.rc:
        return str(result.stdout).strip()
    packed = _read(host, path, "packed-refs").splitlines()
    commits = [line.split(" ", 1)[0] for line in packed if line.endswith(f" {name}")]
    return commits[0] if commits else ""


def _outdated(host: Host, path: str) -> str:
    """The submodules that are not at the commit recorded in the tree."""
    output = _git(host, path, "submodule status --recursive")
    return " ".join(line.split()[1] for line in output.splitlines() if line[:1] not in (" ", ""))


def _git(host: Host, path: str, words: str) -> str:
    """The output of git as the owner of the checkout; RuntimeError if it fails."""
    script = (
        "cd -- %s || exit 1; export GIT_OPTIONAL_LOCKS=0; git() { "
        'o=$(stat -c %%u .git) || exit 1; if test "$(id -u)" = 0 && test "$o" != 0; '
        'then command setpriv --reuid="$o" --clear-groups git "$@"; else command git "$@"; fi; }; '
        f"printf ':'; git -c core.fsmonitor=false {words}"
    )
    problem = f"git {words.split()[0]} failed"
    output = answer(host, script, path, problem=problem, valid=lambda text: text.startswith(":"))
    return output[1:].strip()
