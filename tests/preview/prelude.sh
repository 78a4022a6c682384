# Functions for the setup of scenarios; it stands before each.
set -e
# serve: what is in /srv/www, at http://127.0.0.1:8000
serve() {
    mkdir -p /srv/www
    systemd-run --quiet --unit=www python3 -m http.server -b 127.0.0.1 -d /srv/www 8000
    for try in $(seq 100); do
        python3 -c 'import socket; socket.create_connection(("127.0.0.1", 8000))' \
            2>/dev/null && return
        sleep 0.05
    done
    return 1
}
# pack NAME MEMBER...: an archive in /srv/www of members, each a path with itself as its content
pack() {
    mkdir -p /srv/www; work=$(mktemp -d); name=$1; shift
    for member in "$@"; do
        mkdir -p "$work/$(dirname "$member")"; printf '#!/bin/sh\necho %s\n' "$member" > "$work/$member"
        chmod 755 "$work/$member"
    done
    tar -C "$work" --sort=name --mtime=2020-01-01 --owner=0 --group=0 -cf - $(ls "$work") \
        | gzip -n > "/srv/www/$name"
    rm -r "$work"
}
# unit NAME COMMAND [LINE...]: a unit file with lines for [Service]; not started, not enabled
unit() {
    name=$1; command=$2; shift 2
    { printf '[Unit]\nDescription=%s\n[Service]\nExecStart=%s\n' "$name" "$command"
      for line in "$@"; do echo "$line"; done
      printf '[Install]\nWantedBy=multi-user.target\n'; } > "/etc/systemd/system/$name.service"
    systemctl daemon-reload
}
