"""Threads and waiting for each other."""

import threading
import time
import unittest

from remote_runtime.stdlib_light.threads import Condition, Event, Thread


class TestCondition(unittest.TestCase):
    def test_wakes_all_who_wait(self) -> None:
        """Every waiter goes on when it is notified, each holding the lock in its turn."""
        condition = Condition()
        state = {"ready": False, "inside": 0, "done": 0, "crowded": False}

        def wait() -> None:
            with condition:
                while not state["ready"]:
                    condition.wait()
                state["inside"] += 1
                state["crowded"] = state["crowded"] or state["inside"] > 1
                time.sleep(0.01)
                state["inside"] -= 1
                state["done"] += 1

        threads = [threading.Thread(target=wait) for _ in range(5)]
        for thread in threads:
            thread.start()
        time.sleep(0.05)
        with condition:
            state["ready"] = True
            condition.notify_all()
        for thread in threads:
            thread.join(10)
        self.assertEqual((state["done"], state["crowded"]), (5, False))

    def test_gives_up_in_time(self) -> None:
        """A wait with a time ends without a notification, holding the lock; later ones work."""
        condition = Condition()
        begin = time.monotonic()
        with condition:
            condition.wait(0.1)
            condition.wait(-1)
            self.assertGreaterEqual(time.monotonic() - begin, 0.1)
            condition.notify_all()
        with condition:
            condition.wait(0)

    def test_no_notification_is_lost(self) -> None:
        """Two threads that hand a number to and fro many times never wait for ever."""
        condition = Condition()
        state = {"number": 0}

        def count(parity: int) -> None:
            with condition:
                while state["number"] < 2000:
                    if state["number"] % 2 == parity:
                        state["number"] += 1
                        condition.notify_all()
                    else:
                        condition.wait(10)

        threads = [threading.Thread(target=count, args=(parity,)) for parity in (0, 1)]
        begin = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        self.assertGreaterEqual(state["number"], 2000)
        self.assertLess(time.monotonic() - begin, 9)


class TestEvent(unittest.TestCase):
    def test_happens_once(self) -> None:
        """It is waited for as long as said, and at once when it has happened."""
        event = Event()
        self.assertEqual((event.is_set(), event.wait(0), event.wait(0.05)), (False, False, False))
        threading.Timer(0.1, event.set).start()
        self.assertTrue(event.wait(10))
        self.assertEqual((event.is_set(), event.wait(0)), (True, True))


class TestThread(unittest.TestCase):
    def test_is_waited_for(self) -> None:
        """``join`` returns when the thread is over, or when the time is."""
        go, seen = Event(), []

        def work() -> None:
            go.wait(10)
            seen.append(1)

        thread = Thread(work)
        thread.start()
        begin = time.monotonic()
        thread.join(0.1)
        self.assertGreaterEqual(time.monotonic() - begin, 0.1)
        self.assertEqual(seen, [])
        go.set()
        thread.join(10)
        self.assertEqual(seen, [1])
        self.assertLess(time.monotonic() - begin, 5)


if __name__ == "__main__":
    unittest.main()
