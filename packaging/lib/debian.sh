# shellcheck shell=bash
# Debian packages that are missing.

missing_debian_packages() {
    local name
    while read -r name; do
        [[ -z $name || $name == \#* ]] && continue
        [[ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" == installed ]] || echo "$name"
    done <"$REPO/packaging/debian-packages.txt"
}

install_debian_packages() {
    if ! command -v apt-get >/dev/null; then
        note "this system has no apt-get; what packaging/debian-packages.txt lists must be there already"
        return
    fi
    local missing=() as_root=()
    mapfile -t missing < <(missing_debian_packages)
    (( ${#missing[@]} == 0 )) && return
    step "Installing Debian packages: ${missing[*]}"
    if (( EUID != 0 )); then
        command -v sudo >/dev/null || fail "these Debian packages are missing: run as root: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    "${as_root[@]}" apt-get update -q </dev/null
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends "${missing[@]}" </dev/null
}
