"""When a process that systemd has begun counts as the service's program."""

import os
import tempfile
import unittest

from remote_runtime.units import exec_wait

INIT = ("systemd\n", "/sbin/init\0")


class Host(object):
    """Processes below a directory; each sleep makes the next thing of process 7 come true."""

    def __init__(self, directory, *results):
        self.directory = directory
        self.results = list(results)
        self.sleeps = 0
        self.process(1, INIT)
        self.sleep(0)
        self.sleeps = 0

    def process(self, number, told):
        path = os.path.join(self.directory, str(number))
        os.makedirs(path, exist_ok=True)
        for name, text in zip(("comm", "cmdline"), told or ("", "")):
            if told is None:
                os.remove(os.path.join(path, name))
            else:
                with open(os.path.join(path, name), "w") as file:
                    file.write(text)

    def sleep(self, seconds):
        self.sleeps += 1
        if self.results:
            self.process(7, self.results.pop(0))


class Awaited(unittest.TestCase):
    def test_until_the_program_is_executed_or_gone(self):
        """systemd's own process, whatever it calls itself by then, is waited for."""
        runs = ("app\n", "/usr/bin/app\0")
        rows = [
            ((runs,), 0),
            ((("systemd\n", "/lib/systemd/systemd\0--user\0"),), 0),
            ((("(app)\n", "(app)\0"), runs), 1),
            ((("(app)\n", ""), None), 1),
            ((INIT, ("(app)\n", "(app)\0"), runs), 2),
            ((("systemd-executo\n", "/usr/lib/systemd/systemd-executor\0"), runs), 1),
        ]
        for results, sleeps in rows:
            with tempfile.TemporaryDirectory() as directory:
                host = Host(directory, *results)
                self.assertEqual(
                    exec_wait.await_execution(host.sleep, 7, directory), bool(sleeps), results
                )
                self.assertEqual(host.sleeps, sleeps, results)

    def test_not_for_ever(self):
        """One that stays so is let be in the end."""
        with tempfile.TemporaryDirectory() as directory:
            host = Host(directory, ("(app)\n", "(app)\0"))
            self.assertTrue(exec_wait.await_execution(host.sleep, 7, directory))
            self.assertGreater(host.sleeps, 10)

    def test_without_a_process(self):
        """A unit that has none is not waited for."""
        with tempfile.TemporaryDirectory() as directory:
            host = Host(directory, ("(app)\n", "(app)\0"))
            self.assertFalse(exec_wait.await_execution(host.sleep, 0, directory))
            self.assertFalse(exec_wait.await_execution(host.sleep, 8, directory))
