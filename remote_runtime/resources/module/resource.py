"""The module type: a kernel module, now and at the next boot (target; ``check`` on both sides)."""

import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from remote_runtime.base import Diff, Properties, StateType
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.system.kernel import parameters

_HEAD = "# Managed by ccm.\n"


class Resource(StateType):
    """One module."""

    noun = "kernel module"

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """See the base class. Options must be words; ``blacklist`` requires ``ensure: absent``."""
        words = str(properties.get("options") or "x=1").split()
        bad = [word for word in words if not word.partition("=")[0].replace("_", "a").isalnum()]
        wrong = [("options", "options are words such as numdummies=2, not %r" % w) for w in bad[:1]]
        if str(properties.get("options") or "").endswith("\\"):
            wrong.append(("options", "a backslash at the end would join the next line"))
        if properties.get("blacklist") and properties.get("ensure") != "absent":
            wrong.append(("blacklist", "blacklist requires ensure: absent"))
        return wrong

    def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        """See the base class. Return whether it is loaded, loads at boot or is blacklisted, and its
        options in modprobe.d.
        """
        rules = self._text(host, self._options_file).split("\n")
        state: Dict[str, Any] = {
            "loaded": host.kernel.is_loaded(self.name),
            "boot": self._text(host, self._load_file) == self._wanted_load,
            "options": self._options(rules),
            "blacklist": any(rule.split() == ["blacklist", self.name] for rule in rules),
        }
        lives, wanted = self.properties.get("live", True), self.properties.get("blacklist", False)
        gone = not (state["boot"] or state["options"] or (state["loaded"] and lives))
        as_wanted = gone and state["blacklist"] == wanted
        return None if self.ensure == "absent" and as_wanted else state

    def desired(self) -> Mapping[str, Any]:
        options = " ".join(str(self.properties.get("options") or "").split())
        wanted = {"boot": True, "options": options, "blacklist": False}
        return dict(wanted, loaded=True) if self.properties.get("live", True) else wanted

    def apply(self, host: Host, diff: Diff) -> None:
        """See the base class. Writes the options before it loads the module, which reads them only
        then.
        """
        if "loaded" in diff:
            host.kernel.require_loadable(self.name)  # before any file is changed
        options = diff.desired["options"]
        if "options" in diff or "blacklist" in diff:  # before it is loaded with them
            self._put(host, self._options_file, options and "options %s %s" % (self.name, options))
        if "loaded" in diff:
            host.kernel.load(self.name)
        if "boot" in diff:
            self._put(host, self._load_file, self.name)

    def remove(self, host: Host) -> None:
        """See the base class. Unloads it unless ``live`` is false, and removes the files;
        ``blacklist`` keeps one.
        """
        if self.properties.get("live", True) and host.kernel.is_loaded(self.name):
            host.kernel.unload(self.name)
        text = "blacklist %s" % self.name if self.properties.get("blacklist") else ""
        self._put(host, self._options_file, text)
        self._put(host, self._load_file, "")

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        if properties.get("ensure") == "absent":
            return []
        module = cls(name, properties)
        return [(path, True) for path in (module._load_file, module._options_file)]

    # -- files ------------------------------------------------------------------------------------

    @property
    def _load_file(self) -> str:
        return os.path.join(parameters.ETC, "modules-load.d", "ccm-%s.conf" % self.name)

    @property
    def _options_file(self) -> str:
        return os.path.join(parameters.ETC, "modprobe.d", "ccm-%s.conf" % self.name)

    @property
    def _wanted_load(self) -> str:
        return _HEAD + self.name + "\n"

    def _text(self, host: HostReader, path: str) -> str:
        if host.files.lstat(path) is None:
            return ""
        return host.files.read(path).decode("utf-8", "replace")

    def _options(self, rules: Sequence[str]) -> str:
        for rule in rules:
            words = rule.split()
            if words[:2] == ["options", self.name]:
                return " ".join(words[2:])
        return ""

    @staticmethod
    def _put(host: Host, path: str, line: str) -> None:
        """Make a file with one line exist, or remove it."""
        if not line:
            host.files.unlink(path)
            return
        directory = os.path.dirname(path)
        if host.files.stat(directory) is None:
            host.files.mkdir(directory, 0o755)
        host.files.write(path, (_HEAD + line + "\n").encode("utf-8"), mode=0o644)
