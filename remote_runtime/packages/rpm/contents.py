"""The contents of an RPM (target): its header and its files."""

from typing import Dict, Sequence

from remote_runtime.packages.dpkg.contents import (
    MAX_SCRIPT,
    Contents,
    Member,
    members_below,
)

_SHELLS = ("/bin/sh", "/bin/bash", "/usr/bin/sh", "/usr/bin/bash")
# An RPM's scripts by those of a .deb that are run when it comes.
_SCRIPTS = (("preinst", ("PRETRANS", "PREIN")), ("postinst", ("POSTIN", "POSTTRANS")))
_NONE = "(none)"
_NOREPLACE = 1 << 4
_GHOST = 1 << 6  # the package owns it and does not bring it
_ROOT = "root"
_OF_SCRIPTS = 8  # words
_END = "\x1e"  # of each package
_FILES = "[%{FILENAMES:shescape} %{FILEFLAGS} %{FILEUSERNAME:shescape} %{FILEGROUPNAME:shescape}\n]"
_ONE = "%%{%sPROG:shescape} %%{%s:shescape} "
FORMAT = "".join(_ONE % (tag, tag) for _, tags in _SCRIPTS for tag in tags) + _FILES
INSTALLED = ("rpm", "-q", "--queryformat", "%{NAME:shescape} " + FORMAT + _END, "--")


class Header(object):
    """Parse rpm's output in ``FORMAT``, about a file or an installed package.

    ``ValueError`` for anything else.
    """

    def __init__(self, printed: str) -> None:
        import shlex

        words = shlex.split(printed)
        if len(words) < _OF_SCRIPTS:
            raise ValueError("unexpected output of rpm")
        self.scripts: Dict[str, str] = {}
        for name, tags in _SCRIPTS:
            text = "".join([_script(words.pop(0), words.pop(0)) for _ in tags])
            if text:
                self.scripts[name] = text
        if len(words) % 4:
            raise ValueError("unexpected output of rpm")
        rows = list(zip(words[::4], words[1::4], words[2::4], words[3::4]))
        brought = [row for row in rows if not int(row[1]) & _GHOST]
        self.paths = [row[0] for row in brought]
        self.kept = [row[0] for row in brought if int(row[1]) & _NOREPLACE]
        self._owned = {row[0] for row in brought if row[2:] != (_ROOT, _ROOT)}

    def contents(self, directory: str) -> Contents:
        """Return the contents, with the files that were unpacked to a directory.

        ``OSError``, ``ValueError``. The number of an owner other than root depends on the host.
        """
        own = set(self.paths)
        found = members_below(directory, own.__contains__)
        if len(found) != len(own):
            raise ValueError("not all files of the package were unpacked")
        return Contents([self._as_owned(member) for member in found], self.kept, self.scripts)

    def _as_owned(self, member: Member) -> Member:
        return member._replace(kind="something") if member.path in self._owned else member


def fingerprints(printed: str) -> Dict[str, str]:
    """Return the ``package_sharing.fingerprint`` of each package in the output of ``INSTALLED``, by
    name."""
    from remote_runtime.protocol.package_sharing import fingerprint

    found = {}
    for text in printed.split(_END)[:-1]:
        name, _, rest = text.strip().partition(" ")
        try:
            header = Header(rest)
        except ValueError:
            continue  # a package that is not there after all
        found[name.strip("'")] = fingerprint(header.paths, header.scripts)
    return found


def _script(program: str, text: str) -> str:
    """Return a script for the shell; a script for another program is an unknown command."""
    text = "" if text == _NONE else text
    if program not in (_NONE, *_SHELLS):
        return "%s %s\n" % (program, " ".join(text.split()))
    if len(text) > MAX_SCRIPT:
        raise ValueError("a script is too long")
    return text + "\n" * bool(text)


def unpacking(path: str, directory: str) -> Sequence[str]:
    """Return the command that unpacks an RPM."""
    script = 'mkdir "$2" && rpm2archive "$1" && tar -xpzf "$1.tgz" -C "$2"'
    return ("sh", "-c", script, "ccm", path, directory)
