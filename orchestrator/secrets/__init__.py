"""Secrets that lie encrypted in the repository, or in a store behind a command (controller).

Nothing of this package is loaded where no template or data uses a secret.
"""
