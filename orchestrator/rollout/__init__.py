"""Rollouts: when each host starts, and what stops the others."""
