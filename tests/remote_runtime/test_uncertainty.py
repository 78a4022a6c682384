"""How certain a prediction is."""

import unittest

from remote_runtime.uncertainty import ASSUMED, UNKNOWN, Uncertainty


class UncertaintyTest(unittest.TestCase):
    def test_the_greater_uncertainty_wins(self):
        """Unknown is worse than assumed; of two equal ones, the first keeps its reason."""
        sure, assumed, unknown = Uncertainty(), Uncertainty(ASSUMED, "a"), Uncertainty(UNKNOWN, "u")
        self.assertEqual(sure.worse(assumed), assumed)
        self.assertEqual(assumed.worse(unknown), unknown)
        self.assertEqual(unknown.worse(assumed), unknown)
        self.assertEqual(assumed.worse(Uncertainty(ASSUMED, "b")).reason, "a")
