"""The virtualization of this host, with the names of the fact ``host.info`` (target)."""

from typing import Tuple

from remote_runtime.facts.fact_source import Source

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


def read(source: Source) -> Tuple[str, str, bool]:
    """Return system, role ("guest", "host" or "") and whether it is a container.

    The innermost layer that this process runs in counts.
    """
    container = _container(source)
    if container:
        return container, "guest", True
    if "control_d" in source.text_or_empty("/proc/xen/capabilities"):
        return "xen", "host", False
    machine = _machine(source)
    if machine:
        return machine, "guest", False
    modules = "\n" + source.text_or_empty("/proc/modules")
    for module, system in (("kvm", "kvm"), ("vboxdrv", "vbox")):
        if "\n%s " % module in modules:
            return system, "host", False
    return "", "", False


def _container(source: Source) -> str:
    # systemd, nspawn and podman say it themselves; other managers leave traces.
    name = source.text_or_empty("/run/systemd/container") or source.text_or_empty(
        "/run/host/container-manager"
    )
    if not name:
        for variable in source.text_or_empty("/proc/1/environ").split("\0"):
            if variable.startswith("container="):
                name = variable[len("container=") :]
    if name:
        return "lxc" if name.startswith("lxc") else name
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
    # Cloud providers write their own name into the firmware, small hypervisors do not.
    return "kvm" if source.names_or_empty("/sys/bus/virtio/devices") else ""
