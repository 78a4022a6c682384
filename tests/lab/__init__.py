"""Real Debian hosts for the tests: booted with systemd-nspawn, thrown away afterwards. Needs root
on a Debian machine.

with Lab(count=3) as lab:
    lab.hosts["web1"].run("systemctl is-system-running --wait")
    inventory = lab.inventory(user="deploy", become=True)

Everything here runs on the controller and needs only the standard library; what else is missing is
installed with apt.
"""

from .host import Host
from .lab import Lab
from .machine import LabError, available
from .recipe import PASSWORDS

__all__ = ["PASSWORDS", "Host", "Lab", "LabError", "available"]
