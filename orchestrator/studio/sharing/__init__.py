"""Runs that clients post to the studio; its feed, badges and webhook (controller)."""
