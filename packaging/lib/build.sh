# shellcheck shell=bash
# Configure and build one preset.

# build_preset PRESET [TARGET...]
build_preset() {
    local preset="$1" directory="$REPO/build/$1" stamp
    shift
    stamp="$(hash_of "$REPO/CMakePresets.json" "$preset" "$WORKBENCH_PYTHON")"
    if [[ ! -f $directory/build.ninja || "$(cat "$directory/.configured" 2>/dev/null)" != "$stamp" ]]; then
        step "Configuring preset $preset"
        (cd "$REPO" && cmake --preset "$preset" --fresh) >&2
        echo "$stamp" >"$directory/.configured"
    fi
    step "Building preset $preset"
    # One compiler cache for all checkouts: paths below the checkout count as relative.
    export CCACHE_BASEDIR="$REPO" CCACHE_NOHASHDIR=1
    cmake --build "$directory" --parallel "$(build_jobs)" ${1:+--target "$@"} >&2
}
