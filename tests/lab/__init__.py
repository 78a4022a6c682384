"""Real Debian hosts for the tests: booted with systemd-nspawn, thrown away afterwards.

    with Lab(count=3) as lab:
        lab.hosts["web1"].run("systemctl is-system-running --wait")
        inventory = lab.inventory(user="deploy", become=True)

Needs root on a Debian machine (`available` tells); everything runs on the controller, with the
standard library only. Tools that are missing are installed with apt. `python -m tests.lab` is the
same for people.
"""

from .host import Host
from .interpreters import (
    find_interpreter,
    in_order,
    interpreter_path,
    with_interpreter,
    with_minimal_python,
    without_python,
)
from .lab import Lab
from .machine import LabError, available
from .packages import Package
from .proxy import DelayProxy
from .recipe import PASSWORDS
from .rpms import Rpm

__all__ = [
    "PASSWORDS",
    "DelayProxy",
    "Host",
    "Lab",
    "LabError",
    "Package",
    "Rpm",
    "available",
    "find_interpreter",
    "in_order",
    "interpreter_path",
    "with_interpreter",
    "with_minimal_python",
    "without_python",
]
