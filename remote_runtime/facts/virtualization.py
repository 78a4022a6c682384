"""What this host runs in, in the words of the fact ``host.info`` (target)."""

from typing import NamedTuple

from .source import Source

_DMI = (
    # a word in the vendor or the product of the firmware
    ("VMware", "vmware"),
    ("VirtualBox", "vbox"),
    ("innotek", "vbox"),
    ("Parallels", "parallels"),
    ("BHYVE", "bhyve"),
    ("Xen", "xen"),
    ("QEMU", "kvm"),
    ("KVM", "kvm"),
    ("OpenStack", "kvm"),
    ("Google Compute Engine", "kvm"),
)

_CGROUPS = (
    ("/lxc/", "lxc"),
    ("/lxc.payload", "lxc"),
    ("/docker/", "docker"),
    ("/docker-", "docker"),
    ("/libpod-", "podman"),
    ("/machine-rkt", "rkt"),
)


class Virtualization(NamedTuple):
    """``role`` is "guest", "host" or ""; the innermost layer counts."""

    system: str
    role: str
    container: bool = False


def read(source: Source) -> Virtualization:
    """Return the innermost layer that this process runs in."""
    container = _container(source)
    if container:
        return Virtualization(container, "guest", True)
    if "control_d" in source.text_or_empty("/proc/xen/capabilities"):
        return Virtualization("xen", "host")
    machine = _machine(source)
    if machine:
        return Virtualization(machine, "guest")
    modules = "\n" + source.text_or_empty("/proc/modules")
    for module, system in (("kvm", "kvm"), ("vboxdrv", "vbox")):
        if "\n%s " % module in modules:
            return Virtualization(system, "host")
    return Virtualization("", "")


def _container(source: Source) -> str:
    # systemd, nspawn and podman say it themselves; other managers leave traces.
    said = source.text_or_empty("/run/systemd/container") or source.text_or_empty(
        "/run/host/container-manager"
    )
    if not said:
        for variable in source.text_or_empty("/proc/1/environ").split("\0"):
            if variable.startswith("container="):
                said = variable[len("container=") :]
    if said:
        return "lxc" if said.startswith("lxc") else said
    if source.exists("/run/.containerenv"):
        return "podman"
    if source.exists("/.dockerenv"):
        return "docker"
    if source.exists("/proc/vz") and not source.exists("/proc/bc"):
        return "openvz"
    groups = source.text_or_empty("/proc/self/cgroup")
    return next((system for word, system in _CGROUPS if word in groups), "")


def _machine(source: Source) -> str:
    firmware = "%s %s" % (
        source.text_or_empty("/sys/class/dmi/id/sys_vendor"),
        source.text_or_empty("/sys/class/dmi/id/product_name"),
    )
    if firmware.startswith("Amazon EC2"):
        return "" if ".metal" in firmware else "kvm"
    if firmware.startswith("Microsoft Corporation Virtual"):
        return "hyperv"
    for word, system in _DMI:
        if word in firmware:
            return system
    if source.text_or_empty("/sys/hypervisor/type") == "xen":
        return "xen"
    # Clouds write their own name into the firmware, small hypervisors have none.
    return "kvm" if source.names_or_empty("/sys/bus/virtio/devices") else ""
