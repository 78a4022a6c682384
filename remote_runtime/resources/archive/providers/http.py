"""Archives over HTTP and HTTPS (target): the downloads of the host, and its archives."""

from remote_runtime import base


class Provider(base.Provider):
    """Chosen for all of them."""

    name = "http"
