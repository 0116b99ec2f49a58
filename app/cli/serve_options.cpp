#include "app/cli/serve_options.h"

#include "app/cli/option_kinds.h"

namespace workbench::cli {

void addServeOptions(CLI::App& app, ServeOptions& options) {
    app.add_option("--host", options.host, "Address to listen on; 0.0.0.0 lets other machines in")
        ->capture_default_str();
    app.add_option("--port", options.port, "Port to listen on (0: any that is free)")
        ->capture_default_str()
        ->check(wholeNumber(0, 65535));
    app.add_option("--api-key", options.apiKey,
                   "Key that requests must bring; WORKBENCH_API_KEY keeps it out of the list of processes")
        ->envname("WORKBENCH_API_KEY");
    app.add_option("--model-name", options.modelName, "Name of the model in requests (MODEL's own)");
    app.add_option("--max-batch-tokens", options.maxBatchTokens,
                   "Tokens computed in one step at most: more serve long prompts faster, fewer keep texts of "
                   "others flowing (512)")
        ->check(wholeNumber(1));
    app.add_option("--kv-cache-bytes", options.kvCacheBytes,
                   "Memory of the KV cache (4 GiB, or half of what is free)")
        ->check(wholeNumber(1));
    app.add_option("--max-queue", options.maxQueue,
                   "Requests that wait for their first step at most; more get status 429 (1024)")
        ->check(wholeNumber(1));
}

} // namespace workbench::cli
