# shellcheck shell=bash
# Shared by packaging/run and packaging/test. Sourced, never run.

# shellcheck disable=SC2034  # read by the scripts that source this file
REPO="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
CACHE="${WORKBENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/fusion-workbench}"

step() { printf '\n== %s\n' "$*" >&2; }

note() { printf '   %s\n' "$*" >&2; }

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# Hash of files and words: the name of what was made from them.
hash_of() {
    local word
    for word in "$@"; do
        if [[ -f $word ]]; then cat "$word"; else printf '%s\n' "$word"; fi
    done | sha256sum | cut -c1-16
}

# Runs the rest of the script alone: a second start waits for the first instead of breaking what it builds.
lock_cache() {
    mkdir -p "$CACHE"
    exec 9>"$CACHE/.lock"
    if ! flock -n 9; then
        note "another run of these scripts is at work in $CACHE, waiting for it"
        flock 9
    fi
}

unlock_cache() { exec 9>&-; }

# Cores to build with. LibTorch translation units take up to 2 GiB each.
build_jobs() {
    local cores memory_gib
    cores="$(nproc)"
    memory_gib="$(awk '/MemAvailable/ { print int($2 / 1048576 / 2) }' /proc/meminfo)"
    (( memory_gib < 1 )) && memory_gib=1
    echo $(( cores < memory_gib ? cores : memory_gib ))
}
