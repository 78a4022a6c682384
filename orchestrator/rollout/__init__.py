"""Rollouts: decides when each host starts, and what stops the others."""
