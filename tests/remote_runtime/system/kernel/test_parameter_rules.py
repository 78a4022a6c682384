import unittest

from remote_runtime.system.kernel import parameter_rules

INTERFACES = ("all", "default", "eth0")


class AcceptedTest(unittest.TestCase):
    def test_what_is_certain(self) -> None:
        """Numbers within the limits of every kernel; of others only trying tells."""
        for key, value in (
            ("net/ipv4/ip_forward", "1"),
            ("net/ipv4/conf/eth0.100/rp_filter", "2"),
            ("net/ipv6/conf/all/disable_ipv6", "1"),
            ("net/ipv4/ip_default_ttl", "255"),
            ("net/ipv4/ip_unprivileged_port_start", "1024"),
        ):
            self.assertTrue(parameter_rules.is_accepted(key, value), key)
        for key, value in (
            ("net/ipv4/ip_forward", "yes"),
            ("net/ipv4/ip_default_ttl", "0"),
            ("net/ipv4/ip_default_ttl", "256"),
            ("net/ipv4/ip_unprivileged_port_start", "40000"),
            ("net/ipv4/tcp_rmem", "1 2 3"),
            ("net/ipv4/ip_forward/x", "1"),
        ):
            self.assertFalse(parameter_rules.is_accepted(key, value), key)


class FollowersTest(unittest.TestCase):
    def test_forwarding(self) -> None:
        """One switch of IPv4 is that of all interfaces, and turns redirects the other way."""
        for key in ("net/ipv4/ip_forward", "net/ipv4/conf/all/forwarding"):
            found = parameter_rules.dependent_parameters(key, "1", INTERFACES)
            self.assertNotIn(key, found)
            found[key] = "1"
            self.assertEqual(
                found,
                {
                    "net/ipv4/ip_forward": "1",
                    "net/ipv4/conf/all/forwarding": "1",
                    "net/ipv4/conf/default/forwarding": "1",
                    "net/ipv4/conf/eth0/forwarding": "1",
                    "net/ipv4/conf/all/accept_redirects": "0",
                },
            )

    def test_interfaces(self) -> None:
        """What interfaces take over is known or not; of one interface nothing follows."""
        self.assertEqual(
            parameter_rules.dependent_parameters("net/ipv6/conf/all/disable_ipv6", "1", INTERFACES),
            {"net/ipv6/conf/default/disable_ipv6": "1", "net/ipv6/conf/eth0/disable_ipv6": "1"},
        )
        self.assertEqual(
            parameter_rules.dependent_parameters(
                "net/ipv4/conf/default/rp_filter", "1", INTERFACES
            ),
            {"net/ipv4/conf/eth0/rp_filter": None},
        )
        for key in (
            "net/ipv4/conf/all/rp_filter",
            "net/ipv6/conf/eth0/disable_ipv6",
            "net/ipv6/conf/all/accept_ra",
            "vm/swappiness",
        ):
            self.assertEqual(parameter_rules.dependent_parameters(key, "1", INTERFACES), {}, key)

    def test_either(self) -> None:
        """Of two that exclude each other the other one gets 0."""
        self.assertEqual(
            parameter_rules.dependent_parameters("vm/dirty_bytes", "9", ()), {"vm/dirty_ratio": "0"}
        )

    def test_family(self) -> None:
        """Where the interfaces are listed."""
        self.assertEqual(parameter_rules.family_of("net/ipv4/ip_forward"), "net/ipv4/conf")
        self.assertEqual(parameter_rules.family_of("net/ipv6/conf/all/forwarding"), "net/ipv6/conf")
        self.assertEqual(parameter_rules.family_of("net/ipv4/ip_forward_use_pmtu"), "")


if __name__ == "__main__":
    unittest.main()
