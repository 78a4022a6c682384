"""module: the output of lsmod and modinfo, and the files for the next boot (controller)."""

from orchestrator.verify.expectation import Expectation, Host, equal, lines_before
from orchestrator.verify.subject import Subject

_END = "# end"
_LISTED = "lsmod && { modinfo -F filename %s 2>/dev/null || true; } && echo %s"
_FILE = "cat %s 2>/dev/null; echo %s"


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations: whether it is loaded, and its state after the next boot."""
    name = subject.name
    present = subject.get("ensure", "present") != "absent"
    options = " ".join(subject.text("options").split())
    load, settings = (f"/etc/{d}/ccm-{name}.conf" for d in ("modules-load.d", "modprobe.d"))
    line = f"blacklist {name}" if subject.get("blacklist") and not present else ""
    if present and options:
        line = f"options {name} {options}"
    expectations = [
        equal("boot", name if present else "none", lambda host: _line(host, load)),
        equal("options", line or "none", lambda host: _line(host, settings)),
    ]
    if subject.get("live", True):
        wanted = "loaded" if present else "not loaded"
        expectations.append(equal("loaded", wanted, lambda host: _state(host, name)))
    return expectations


def _state(host: Host, name: str) -> str:
    """Whether the kernel has the module, loaded or built in."""
    lines = [line.strip() for line in lines_before(_END, host, _LISTED, name)]
    plain = name.replace("-", "_")
    names = {line.split()[0] for line in lines if line.split()}
    return "loaded" if plain in names or "(builtin)" in lines else "not loaded"


def _line(host: Host, path: str) -> str:
    """The lines of a file that are not comments."""
    lines = [line.strip() for line in lines_before(_END, host, _FILE, path)]
    return "; ".join(line for line in lines if line[:1] not in ("#", "")) or "none"
