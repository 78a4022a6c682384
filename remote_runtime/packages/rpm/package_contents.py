"""The contents of an RPM (target): its header and its files."""

from typing import Dict, Sequence

from remote_runtime.packages.dpkg.package_contents import (
    MAX_SCRIPT,
    Contents,
    Member,
    members_below,
)

_SHELLS = ("/bin/sh", "/bin/bash", "/usr/bin/sh", "/usr/bin/bash")
# An RPM's scripts by those of a .deb that are run when it comes.
_SCRIPTS = (("preinst", ("PRETRANS", "PREIN")), ("postinst", ("POSTIN", "POSTTRANS")))
NONE = "(none)"
CONFIG, MISSINGOK, NOREPLACE = "config", "missingok", "noreplace"
_FLAGS = ((CONFIG, 1 << 0), (MISSINGOK, 1 << 3), (NOREPLACE, 1 << 4))
_GHOST = 1 << 6  # the package owns it and does not bring it
_ROOT = "root"
_OF_SCRIPTS = 8  # words
END = "\x1e"  # of each package
_FILES = "[%{FILENAMES:shescape} %{FILEFLAGS} %{FILEUSERNAME:shescape} %{FILEGROUPNAME:shescape}\n]"
_ONE = "%%{%sPROG:shescape} %%{%s:shescape} "
FORMAT = "".join(_ONE % (tag, tag) for _, tags in _SCRIPTS for tag in tags) + _FILES
INSTALLED = ("rpm", "-q", "--queryformat", "%{NAME:shescape} " + FORMAT + END, "--")


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
            text = "".join([script_text(words.pop(0), words.pop(0)) for _ in tags])
            if text:
                self.scripts[name] = text
        if len(words) % 4:
            raise ValueError("unexpected output of rpm")
        rows = list(zip(words[::4], words[1::4], words[2::4], words[3::4]))
        named_rows = [row for row in rows if row[0] != NONE]  # else of a package without files
        brought = [row for row in named_rows if not int(row[1]) & _GHOST]
        self.paths = [row[0] for row in brought]
        self._rows = {row[0]: row[1:] for row in brought}

    def contents(self, directory: str) -> Contents:
        """Return the contents, with the files that were unpacked to a directory.

        ``OSError``, ``ValueError``. The conffiles are all configuration files.
        """
        own = set(self.paths)
        files = members_below(directory, own.__contains__)
        if len(files) != len(own):
            raise ValueError("not all files of the package were unpacked")
        members = [self._described(member) for member in files]
        config = [member.path for member in members if member.config]
        return Contents(members, config, self.scripts)

    def _described(self, member: Member) -> Member:
        """Return a member with the names of its owner and group, and its words as configuration."""
        flags, owner, group = self._rows[member.path]
        return member._replace(
            owner="" if owner == _ROOT else owner,
            group="" if group == _ROOT else group,
            config=config_words(int(flags)),
        )


def config_words(flags: int) -> str:
    """Return the words of a configuration file, from the flags of a file; "" for other files."""
    words = [word for word, bit in _FLAGS if flags & bit]
    return " ".join(words) if CONFIG in words else ""


def fingerprints(printed: str) -> Dict[str, str]:
    """Return the ``package_sharing.fingerprint`` of each package in the output of ``INSTALLED``, by
    name."""
    from remote_runtime.protocol.package_sharing import fingerprint

    by_name = {}
    for text in printed.split(END)[:-1]:
        name, _, rest = text.strip().partition(" ")
        try:
            header = Header(rest)
        except ValueError:
            continue  # a package that is not there after all
        by_name[name.strip("'")] = fingerprint(header.paths, header.scripts)
    return by_name


def script_text(program: str, text: str) -> str:
    """Return a script for the shell; a script for another program is an unknown command."""
    text = "" if text == NONE else text
    if program not in (NONE, *_SHELLS):
        return "%s %s\n" % (program, " ".join(text.split()))
    if len(text) > MAX_SCRIPT:
        raise ValueError("a script is too long")
    return text + "\n" * bool(text)


def unpacking(path: str, directory: str) -> Sequence[str]:
    """Return the command that unpacks an RPM."""
    script = 'mkdir "$2" && rpm2archive "$1" && tar -xpzf "$1.tgz" -C "$2"'
    return ("sh", "-c", script, "ccm", path, directory)
