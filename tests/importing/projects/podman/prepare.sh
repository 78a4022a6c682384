# The root of a lab host is an overlay, and podman cannot put one on top of it: which of its units fails then is chance.
mkdir -p /etc/containers
cat > /etc/containers/storage.conf <<'END'
[storage]
driver = "vfs"
runroot = "/run/containers/storage"
graphroot = "/var/lib/containers/storage"
END
