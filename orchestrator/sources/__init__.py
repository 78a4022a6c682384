"""Data and manifests from other machines (controller): addresses, downloads, the cache, archives.

This data is not trusted: it is limited in size and time, bound to a digest or to a host that the
project names, and never used as a template unless it is a manifest with a digest.
"""
