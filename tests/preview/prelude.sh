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
# linger USER: a manager of the user that runs; own COMMAND...: systemctl of alice, who has one
linger() {
    loginctl enable-linger "$1"
    for try in $(seq 100); do
        [ -e "/run/user/$(id -u "$1")/systemd/private" ] && return
        sleep 0.05
    done
    return 1
}
own() {
    XDG_RUNTIME_DIR=/run/user/$(id -u alice) runuser -u alice -- systemctl --user "$@"
}
# own_unit NAME COMMAND [LINE...]: a unit file of alice, as unit
own_unit() {
    name=$1; command=$2; shift 2; place=/home/alice/.config/systemd/user
    runuser -u alice -- mkdir -p "$place"
    { printf '[Service]\nExecStart=%s\n' "$command"
      for line in "$@"; do echo "$line"; done
      printf '[Install]\nWantedBy=default.target\n'; } > "$place/$name.service"
    chown alice: "$place/$name.service"
    own daemon-reload
}
# signed: a flat repository in /srv/signed with signed lists, which name the package ccm-signed
signed() {
    mkdir -p /srv/signed
    cat > /srv/signed/Packages <<'EOF'
Package: ccm-signed
Version: 1.0-1
Architecture: all
Maintainer: ccm test suite <root@localhost>
Filename: ./ccm-signed_1.0-1_all.deb
Size: 1000
SHA256: 0000000000000000000000000000000000000000000000000000000000000000
Description: a package that only the lists know
EOF
    cat > /srv/signed/InRelease <<'EOF'
-----BEGIN PGP SIGNED MESSAGE-----
Hash: SHA512

Origin: ccm test suite
Label: ccm test suite
Suite: stable
Codename: stable
Date: Thu, 01 Jan 2024 00:00:00 UTC
Architectures: all amd64 arm64
Components: main
Description: A signed repository
SHA256:
 a08be317ff35153ed8abe79d4ed707458a6a81e652b2eeb1c635deef26b03a4b 266 Packages
-----BEGIN PGP SIGNATURE-----

iHUEARYKAB0WIQQ165/4gKFOs5ouJtSkOO05pnG7CwUCZZNSAAAKCRCkOO05pnG7
Cw3iAQC7owKqXUB4aQUjSwbT9qTX3ZYI+v+GgI6WlbDL+FR0PgD8CTY1lFRj0z/9
4LCSGLzJnzpiodQX/Ae0uYsP6oigDg0=
=M1mP
-----END PGP SIGNATURE-----
EOF
}
# extra: pv-tool and its repository move to /srv/extra, which is not signed
extra() {
    mkdir -p /srv/extra && cp /srv/ccm-repo/pv-tool_2* /srv/extra/
    ( cd /srv/extra && { dpkg-deb --field pv-tool_2*.deb
      echo "Filename: ./$(echo pv-tool_2*.deb)"; echo "Size: $(stat -c %s pv-tool_2*.deb)"
      echo "SHA256: $(sha256sum pv-tool_2*.deb | cut -d' ' -f1)"; } | sed 's/^Package: .*/Package: pv-extra/' > Packages )
}
# repository DIRECTORY TEXT...: a git repository whose branch main has a commit for each text of its file app
repository() {
    directory=$1; shift
    git init -q -b main "$directory"
    for text in "$@"; do
        echo "$text" > "$directory/app"; git -C "$directory" add app
        git -C "$directory" -c user.name=x -c user.email=x commit -q -m c
    done
}
# wheel NAME VERSION [NEED]: a wheel in /srv/wheels, which is all that pip finds
wheel() {
    mkdir -p /srv/wheels
    printf '[global]\nno-index = true\nfind-links = /srv/wheels\n' > /etc/pip.conf
    python3 - "$@" <<'EOF'
import sys, zipfile
name, version, needs = sys.argv[1], sys.argv[2], sys.argv[3:]
info = "%s-%s.dist-info/" % (name, version)
said = "Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version)
said += "".join("Requires-Dist: %s\n" % need for need in needs)
with zipfile.ZipFile("/srv/wheels/%s-%s-py3-none-any.whl" % (name, version), "w") as made:
    made.writestr(name + ".py", "")
    made.writestr(info + "METADATA", said)
    made.writestr(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    made.writestr(info + "RECORD", "")
EOF
}
# npm_package NAME VERSION [NAME=RANGE]: a package at http://127.0.0.1:8000/, the latest one is the last
npm_package() {
    mkdir -p /srv/www/tarballs
    python3 - "$@" <<'EOF'
import base64, hashlib, io, json, os, sys, tarfile
name, version = sys.argv[1:3]
needs = dict(one.split("=", 1) for one in sys.argv[3:])
made = io.BytesIO()
with tarfile.open(fileobj=made, mode="w:gz") as archive:
    said = json.dumps({"name": name, "version": version, "dependencies": needs}).encode()
    for path, data in (("package.json", said), ("index.js", b"module.exports = 1\n")):
        entry = tarfile.TarInfo("package/" + path)
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
file = "tarballs/%s-%s.tgz" % (name.replace("/", "-"), version)
with open("/srv/www/" + file, "wb") as kept:
    kept.write(made.getvalue())
digest = base64.b64encode(hashlib.sha512(made.getvalue()).digest()).decode()
dist = {"tarball": "http://127.0.0.1:8000/" + file, "integrity": "sha512-" + digest}
path = "/srv/www/" + name
os.makedirs(os.path.dirname(path), exist_ok=True)
known = json.load(open(path)) if os.path.exists(path) else {"name": name, "versions": {}}
known["versions"][version] = {"name": name, "version": version, "dependencies": needs, "dist": dist}
known["dist-tags"] = {"latest": version}
json.dump(known, open(path, "w"))
EOF
}
