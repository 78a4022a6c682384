"""The RPMs of the corpus: their files, configuration, units, users and scripts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.lab import Rpm

from .packages import unit_text


@dataclass(frozen=True)
class Whole(Rpm):
    """An RPM of `files`, path to text (one that starts with `#!` is executable); `attributes` are
    those that a spec file has before some of them, such as %config(noreplace).
    """

    files: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)

    def spec(self) -> str:
        head, _, _ = super().spec().partition("\n%install\n")
        placed, listed = "", ""
        for path, text in self.files.items():
            mode = "0755" if text.startswith("#!") else "0644"
            placed += f"install -D -m {mode} /dev/stdin %{{buildroot}}{path} <<'EOF'\n{text}EOF\n"
            listed += f"{self.attributes.get(path, '')} {path}\n"
        scripts = "".join(f"%{name}\n{text}\n\n" for name, text in self.scripts.items())
        return f"{head}\n%install\n{placed}\n{scripts}%files\n{listed}"


# What %systemd_post comes to.
_PRESET = """if [ $1 -eq 1 ] && [ -x /usr/bin/systemctl ]; then
    # Initial installation
    systemctl --no-reload preset pv-rpmd.service >/dev/null 2>&1 || :
fi
systemctl daemon-reload >/dev/null 2>&1 || :
"""


def _rd(name: str, evr: str, word: str, **fields: str) -> Whole:
    """A service of which a version has a configuration and files of its own."""
    return Whole(
        name,
        evr,
        {
            "post": _PRESET.replace("pv-rpmd", "pv-rd"),
            # What %systemd_preun and %systemd_postun_with_restart come to.
            "preun": "if [ $1 -eq 0 ]; then\n"
            "    systemctl --no-reload disable --now pv-rd.service >/dev/null 2>&1 || :\nfi",
            "postun": "systemctl daemon-reload >/dev/null 2>&1 || :\n"
            "if [ $1 -ge 1 ]; then\n"
            "    systemctl try-restart pv-rd.service >/dev/null 2>&1 || :\nfi",
        },
        fields={"Requires": "/bin/sh", **fields},
        files={
            "/usr/sbin/pv-rd": f"#!/bin/sh\n# {word}\nexec sleep infinity\n",
            "/usr/lib/systemd/system/pv-rd.service": unit_text("/usr/sbin/pv-rd"),
            "/etc/pv-rd/kept.conf": f"# {word}\n",
            "/etc/pv-rd/replaced.conf": f"# {word}\n",
            "/etc/pv-rd/same.conf": "# same\n",
            f"/usr/share/pv-rd/{word}.dat": f"{word}\n",
        },
        attributes={
            "/etc/pv-rd/kept.conf": "%config(noreplace)",
            "/etc/pv-rd/replaced.conf": "%config",
            "/etc/pv-rd/same.conf": "%config(noreplace)",
        },
    )


_STOPPED = """if [ $1 -eq 0 ]; then
    systemctl --no-reload disable --now pv-clock.timer >/dev/null 2>&1 || :
fi
"""
_ACCOUNT = """getent group pvowner >/dev/null || groupadd -r -g 471 pvowner
getent passwd pvowner >/dev/null || useradd -r -u 471 -g pvowner -d /var/lib/pv-owner pvowner
exit 0
"""


def _settings(version: str, files: Mapping[str, str]) -> Whole:
    """Configuration files of each kind, of which a version has some."""
    kinds = {
        "/etc/pv-kinds/kept.conf": "%config(noreplace)",
        "/etc/pv-kinds/replaced.conf": "%config",
        "/etc/pv-kinds/optional.conf": "%config(missingok)",
    }
    attributes = {path: kind for path, kind in kinds.items() if path in files}
    return Whole("pv-kinds", version, files=files, attributes=attributes)


RPMS: tuple[Rpm, ...] = (
    *(
        _settings(
            f"{number}.0-1.el9",
            {
                "/etc/pv-kinds/kept.conf": f"kept {number}\n",
                "/etc/pv-kinds/replaced.conf": f"replaced {number}\n",
                "/etc/pv-kinds/optional.conf": "optional\n",
                f"/usr/share/pv-kinds/{number}": f"{number}\n",
            },
        )
        for number in (1, 2)
    ),
    _settings("3.0-1.el9", {"/etc/pv-kinds/replaced.conf": "replaced 2\n"}),
    Whole(
        "pv-owner",
        "1.0-1.el9",
        {"pre": _ACCOUNT},
        fields={"Requires": "/bin/sh"},
        files={"/var/lib/pv-owner/state": "none\n", "/etc/pv-owner.conf": "a = 1\n"},
        attributes={
            "/var/lib/pv-owner/state": "%attr(0640, pvowner, pvowner)",
            "/etc/pv-owner.conf": "%config(noreplace) %attr(0640, root, pvowner)",
        },
    ),
    Whole(
        "pv-clock",
        "1.0-1.el9",
        {"post": _PRESET.replace("pv-rpmd.service", "pv-clock.timer"), "preun": _STOPPED},
        fields={"Requires": "/bin/sh"},
        files={
            "/usr/lib/systemd/system/pv-clock.service": unit_text(
                "/bin/true", "Type=oneshot\n", ""
            ),
            "/usr/lib/systemd/system/pv-clock.timer": "[Unit]\nDescription=corpus\n[Timer]\n"
            "OnCalendar=yearly\n[Install]\nWantedBy=timers.target\n",
        },
    ),
    Whole(
        "pv-choice",
        "1.0-1.el9",
        {
            "post": "update-alternatives --install /usr/bin/pv-chosen pv-chosen"
            " /usr/bin/pv-choice 10\n",
            "preun": "if [ $1 -eq 0 ]; then\n"
            "    update-alternatives --remove pv-chosen /usr/bin/pv-choice\nfi\n",
        },
        fields={"Requires": "/bin/sh"},
        files={"/usr/bin/pv-choice": "#!/bin/sh\n"},
    ),
    Whole("pv-part", "1.0-1.el9", files={"/usr/share/pv-part/moved": "1\n"}),
    Whole(
        "pv-part",
        "2.0-1.el9",
        fields={"Requires": "pv-piece"},
        files={"/usr/share/pv-part/new": "2\n"},
    ),
    Whole("pv-piece", "2.0-1.el9", files={"/usr/share/pv-part/moved": "2\n"}),
    Whole(
        "pv-wants",
        "1.0-1.el9",
        fields={"Recommends": "pv-kinds"},
        files={"/usr/share/pv-wants/x": "x\n"},
    ),
    _rd("pv-rd", "1.0-1.el9", "one"),
    _rd("pv-rd", "2.0-1.el9", "two"),
    _rd("pv-rd-next", "3.0-1.el9", "three", Obsoletes="pv-rd < 3", Provides="pv-rd = 3.0"),
    Rpm("pv-rd-plugin", "1.0-1.el9", fields={"Requires": "pv-rd"}),
    Rpm("pv-rd-old-plugin", "1.0-1.el9", fields={"Requires": "pv-rd < 2"}),
    Whole(
        "pv-rpmd",
        "1.0-1.el9",
        {"pre": "getent passwd pvrpm >/dev/null || useradd -r pvrpm\n", "post": _PRESET},
        files={
            "/usr/sbin/pv-rpmd": "#!/bin/sh\nexec sleep infinity\n",
            "/usr/lib/systemd/system/pv-rpmd.service": unit_text("/usr/sbin/pv-rpmd"),
            "/etc/pv-rpmd.conf": "# pv-rpmd\n",
            "/etc/pv-rpmd.own": "# pv-rpmd\n",
            "/var/lib/pv-rpmd/state": "none\n",
        },
        attributes={
            "/etc/pv-rpmd.conf": "%config(noreplace)",
            "/etc/pv-rpmd.own": "%config",
            "/var/lib/pv-rpmd/state": "%attr(0600, pvrpm, pvrpm)",
        },
    ),
    Whole(
        "pv-rpm-app",
        "1.0-1.el9",
        fields={"Requires": "pv-rpmd"},
        files={"/usr/bin/pv-rpm-app": "#!/bin/sh\n"},
    ),
    *(
        Whole(
            f"pv-twin-{one}",
            "1.0-1.el9",
            files={
                "/usr/share/pv-twin/both": "both\n",
                f"/usr/share/pv-twin/{one}": f"{one}\n",
                "/etc/pv-twin.conf": "both\n",
            },
            attributes={"/etc/pv-twin.conf": "%config(noreplace)"},
        )
        for one in ("a", "b")
    ),
    # Its scripts run when another package goes.
    Whole(
        "pv-watch",
        "1.0-1.el9",
        {
            "triggerun -- pv-part, pv-kinds < 3": "rm -rf /data/pv-watch\n",
            "triggerpostun -- pv-part": "echo gone > /data/pv-watch.log\n",
            "triggerin -- pv-part": "echo come > /data/pv-watch.in\n",
        },
        fields={"Requires": "/bin/sh"},
        files={"/usr/share/pv-watch/x": "x\n"},
    ),
    # Its scripts work outside the directories of packages.
    Whole(
        "pv-wipes",
        "1.0-1.el9",
        {
            "preun": "rm -rf /srv/pv-wipes /data/pv-wipes\n",
            "postun": "echo gone > /opt/pv-wipes.log\n",
        },
        fields={"Requires": "/bin/sh, pv-part"},
        files={"/srv/of-pv-wipes": "x\n"},
    ),
    Rpm("pv-base", "1.0-1.el9"),
    Rpm("pv-base", "2.0-1.el9"),
    Rpm("pv-epoch", "2.0-1.el9"),
    Rpm("pv-epoch", "1:0.9-1.el9"),
    Rpm("pv-app", "1.0-1.el9", fields={"Requires": "pv-base"}),
    Rpm("pv-old-app", "1.0-1.el9", fields={"Requires": "pv-base < 2.0"}),
    Rpm("pv-rival", "1.0-1.el9", fields={"Conflicts": "pv-base"}),
)
