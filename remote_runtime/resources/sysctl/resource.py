"""The sysctl type: a kernel parameter, now and at the next boot (target; ``check`` on
both sides).
"""

import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from remote_runtime.base import Diff, Properties, StateType
from remote_runtime.errors import ResourceError
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.system.kernel import parameters, sysctl_files
from remote_runtime.system.kernel.sysctl_files import Setting

DEFAULT = "99-ccm.conf"
_HEAD = "# Kernel parameters that are managed by ccm.\n"


class Resource(StateType):
    """One parameter."""

    noun = "kernel parameter"
    partial = True
    _unknown = False  # whether the kernel lacks it, which is accepted

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """See the base class. The name must have several parts, and the file must be one that the
        system reads at boot.
        """
        wrong: List[Tuple[str, str]] = []
        parts = sysctl_files.path_of(name).split("/")
        if len(parts) < 2 or any(part in ("", ".", "..") for part in parts):
            wrong.append(
                ("name", "a kernel parameter has several parts, such as net.ipv4.ip_forward")
            )
        file = str(properties.get("file") or _file(DEFAULT))
        right = (
            os.path.join(parameters.ETC, sysctl_files.SYSCTL_CONF),
            _file(os.path.basename(file)),
        )
        if file not in right:
            expected = "file must be %s, or end with .conf and be in %s" % (right[0], _file(""))
            wrong.append(("file", expected))
        if not str(properties.get("value", 0)).strip():
            wrong.append(("value", "value must not be empty"))
        return wrong

    @property
    def _key(self) -> str:
        return sysctl_files.path_of(self.name)

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        # One that is absent may leave the file, which others share.
        absent = properties.get("ensure") == "absent"
        return [] if absent else [(cls(name, properties)._file, True)]

    @property
    def _file(self) -> str:
        return str(self.properties.get("file") or _file(DEFAULT))

    @property
    def _value(self) -> Optional[str]:
        """The desired value, with single spaces between words."""
        value = self.properties.get("value")
        return None if value is None else " ".join(str(value).split())

    def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        """See the base class. ``boot`` is the value in the files, ``value`` that of the kernel,
        with single spaces.
        """
        boot = self._at_boot(host)
        if self.ensure == "absent":
            return None if boot is None else {"boot": boot.value}
        state: Dict[str, Any] = {"boot": self._shown(boot.value if boot else None)}
        self._unknown = bool(self.properties.get("ignore_unknown")) and not (
            host.kernel.is_known(self._key)
        )
        if not self._unknown:
            now = " ".join(host.kernel.value(self._key).split())
            wanted = self._value
            has_value = wanted is not None and sysctl_files.is_held(now, wanted)
            state["value"] = wanted if has_value else now
        return state

    def _at_boot(self, host: HostReader) -> Optional[Setting]:
        """The setting that the boot applies last, starting with the file of the resource; None if
        that file has none.
        """
        settings = host.kernel.settings(self._key)
        own = [at for at, one in enumerate(settings) if one.file == self._file]
        if not own:
            return None
        return settings[own[-1]] if self.ensure == "absent" else settings[-1]

    def _shown(self, value: Optional[str]) -> Optional[str]:
        """A value in its desired notation, if it has the same meaning."""
        wanted = self._value
        return wanted if sysctl_files.is_same(value, wanted) else value

    def desired(self) -> Mapping[str, Any]:
        value = self._value
        lives = self.properties.get("live", True) and not self._unknown
        return {"value": value, "boot": value} if lives else {"boot": value}

    def apply(self, host: Host, diff: Diff) -> None:
        """See the base class. Sets the kernel first, so a value that it refuses is not written for
        the next boot.
        """
        value = str(self._value)
        if "boot" in diff:
            self._require_last(host.kernel.settings(self._key), value)
        if "value" in diff:
            host.kernel.set_value(self._key, value)
        if "boot" in diff:
            self._rewrite(host, sysctl_files.with_setting(self._text(host), self.name, value))

    def _require_last(self, settings: Sequence[Setting], value: str) -> None:
        """``ResourceError`` if a later file sets the parameter to another value."""
        path = os.path.basename(self._file)
        in_sysctl_conf = path == sysctl_files.SYSCTL_CONF
        for one in settings:
            name = os.path.basename(one.file)
            later = name == sysctl_files.SYSCTL_CONF or (name > path and not in_sysctl_conf)
            if one.file == self._file or not later:
                continue
            if not sysctl_files.is_same(one.value, value):
                raise ResourceError(
                    "%s:%d sets %s to %s, after %s"
                    % (one.file, one.line, self.name, one.value, self._file),
                    kind="resource.sysctl.order",
                    hint="set file to a name that sorts after it, or change that line first",
                )

    def _text(self, host: HostReader) -> str:
        if host.files.lstat(self._file) is None:
            return _HEAD
        return host.files.read(self._file).decode("utf-8", "surrogateescape")

    def _rewrite(self, host: Host, text: str) -> None:
        directory = os.path.dirname(self._file)
        if host.files.stat(directory) is None:
            host.files.mkdir(directory, 0o755)
        data = text.encode("utf-8", "surrogateescape")
        if host.files.lstat(self._file) is None:
            host.files.write(self._file, data, mode=0o644)
        else:
            host.files.rewrite(self._file, data)

    def remove(self, host: Host) -> None:
        """See the base class. Removes ccm's file with its last setting. The kernel keeps
        its value.
        """
        text = sysctl_files.without_setting(self._text(host), self.name)
        if sysctl_files.is_bare(text) and self._file == _file(DEFAULT):
            host.files.unlink(self._file)
        else:
            self._rewrite(host, text)


def _file(name: str) -> str:
    return os.path.join(parameters.ETC, "sysctl.d", name)
