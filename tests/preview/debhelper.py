"""What debhelper makes of a unit of a package."""

from __future__ import annotations


def managed(unit: str, enable: bool = True, start: bool = True) -> dict[str, str]:
    """The maintainer scripts that debhelper makes for a unit."""
    helper = "enable" if enable else "update-state"
    started = f"""
    if [ -d /run/systemd/system ]; then
        systemctl --system daemon-reload >/dev/null || true
        if [ -n "$2" ]; then _dh_action=restart; else _dh_action=start; fi
        deb-systemd-invoke $_dh_action '{unit}' >/dev/null || true
    fi
"""
    return {
        "postinst": f"""
if [ "$1" = configure ] || [ "$1" = abort-upgrade ]; then
    deb-systemd-helper unmask '{unit}' >/dev/null || true
    if deb-systemd-helper --quiet was-enabled '{unit}'; then
        deb-systemd-helper {helper} '{unit}' >/dev/null || true
    else
        deb-systemd-helper update-state '{unit}' >/dev/null || true
    fi
{started if start else ""}
fi
""",
        "prerm": f"""
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    deb-systemd-invoke stop '{unit}' >/dev/null || true
fi
""",
        "postrm": f"""
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    systemctl --system daemon-reload >/dev/null || true
fi
if [ "$1" = purge ]; then deb-systemd-helper purge '{unit}' >/dev/null || true; fi
""",
    }
