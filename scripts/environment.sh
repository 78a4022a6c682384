# Sourced by the other scripts: makes .venv beside the checkout and puts it first in PATH.
# Wants Python 3.10 or newer; CCM_PYTHON names another one than the first found.

root=$(cd "$(dirname "$0")/.." && pwd)

say() { printf '%s\n' "$*" >&2; }

find_python() {
    for candidate in "${CCM_PYTHON:-python3}" python3.13 python3.12 python3.11 python3.10; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            printf '%s' "$candidate"
            return
        fi
    done
    say "ccm needs Python 3.10 or newer on this machine; set CCM_PYTHON to one."
    exit 1
}

can_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }

apt_get() { # another program may have apt's locks, such as a new machine's own upgrades: five minutes at most
    for _ in $(seq 60); do
        said=$(DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q "$@" 2>&1 >/dev/null) && return 0
        case "$said" in *"Could not get lock"*) sleep 5 ;; *) break ;; esac
    done
    say "$said"
    return 1
}

install_packages() { # Debian packages, without a question; the lists are fetched once when they lack one
    apt_get install -y --no-install-recommends "$@" 2>/dev/null && return
    apt_get update
    apt_get install -y --no-install-recommends "$@"
}

make_environment() { # $1: the extra of pyproject.toml to install, or ""
    python=$(find_python)
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        can_install || { say "Python's venv module is missing: install the package python3-venv."; exit 1; }
        say "Installing python3-venv ..."
        install_packages python3-venv
    fi
    [ -x "$root/.venv/bin/python" ] || "$python" -m venv "$root/.venv"
    stamp="$root/.venv/.installed$1"
    if [ ! -e "$stamp" ] || [ "$root/pyproject.toml" -nt "$stamp" ]; then
        say "Installing ccm and what it needs into .venv ..."
        "$root/.venv/bin/python" -m pip install -q --disable-pip-version-check -e "$root$1"
        touch "$stamp"
    fi
    PATH="$root/.venv/bin:$PATH"
    export PATH
}
