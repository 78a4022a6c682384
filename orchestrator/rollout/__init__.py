"""The brake of a rollout: which host begins when, and what keeps all others from it."""
