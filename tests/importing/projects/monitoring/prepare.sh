# What a mirror has: a release of the agent.
mkdir -p /srv/mirror/node_exporter-1.8.2.linux-amd64
cd /srv/mirror
printf '#!/bin/sh\nexec sleep infinity\n' > node_exporter-1.8.2.linux-amd64/node_exporter
echo license > node_exporter-1.8.2.linux-amd64/LICENSE
chmod 755 node_exporter-1.8.2.linux-amd64/node_exporter
touch -d @1700000000 node_exporter-1.8.2.linux-amd64/* node_exporter-1.8.2.linux-amd64
tar --owner=0 --group=0 --numeric-owner --sort=name -cf - node_exporter-1.8.2.linux-amd64 | gzip -n > node_exporter-1.8.2.linux-amd64.tar.gz
rm -r node_exporter-1.8.2.linux-amd64
sha256sum node_exporter-1.8.2.linux-amd64.tar.gz > sha256sums.txt
systemd-run --unit=ccm-mirror python3 -m http.server --bind 127.0.0.1 --directory /srv/mirror 8099
