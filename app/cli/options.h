#pragma once

#include "app/session/bench_report.h"
#include "app/session/decisions.h"
#include "app/session/runtime.h"
#include "app/session/tracer.h"
#include "app/session/weight_format.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace workbench::cli {

struct ServeOptions {
    std::string host = "127.0.0.1";
    std::int64_t port = 8000; ///< 0: any that is free
    std::string apiKey;
    std::string modelName;           ///< as requests name the model; empty: after MODEL
    std::int64_t maxBatchTokens = 0; ///< 0: the engine's default, as for the next two
    std::int64_t kvCacheBytes = 0;
    std::int64_t maxQueue = 0;
};

/// "--require qkv=28", "--require qkv>=28".
struct Requirement {
    std::string pattern;
    bool exact = true;
    std::int64_t count = 0;
};

struct Command;

/// The whole command line as values; empty paths and texts were not given.
struct Options {
    const Command* command = nullptr; ///< which one runs; none after a wrong usage
    bool quiet = false;
    bool verbose = false;

    std::string model;
    TraceOptions trace;
    std::string worker;
    std::string workerModel;              ///< the model's directory where the worker runs; empty: as here
    std::string weights = kStoredWeights; ///< what products keep their weights in
    std::string device = kCpuDevice;      ///< of the worker

    std::vector<DecisionRule> rules;
    std::filesystem::path plan;
    std::vector<Requirement> requirements;
    bool dryRun = false;

    std::filesystem::path exportPlan;
    std::filesystem::path exportSource;
    std::filesystem::path exportPt2;

    bool json = false;
    std::string explain;        ///< patterns
    std::string tokens;         ///< verify: ids or a file
    std::filesystem::path text; ///< verify: a file instead
    std::filesystem::path dumpLogits;
    std::vector<std::string> texts; ///< generate: the prompts
    std::vector<std::string> stops;
    bool chat = false;
    std::int64_t maxTokens = 128;
    BenchLoad load; ///< bench, bisect
    std::string loadKind = "single";
    std::filesystem::path traceFile;
    std::filesystem::path prompts;
    bool eager = false; ///< bench
    bool leaveOneOut = false;
    std::filesystem::path report;
    std::string bisectBy = "numbers"; ///< bisect: "numbers", "speed"
    std::string scope;                ///< render: module path; empty: the model
    std::vector<std::string> expand;
    bool drawRewritten = false;
    std::string overlay;               ///< "weights", "error", "gain", "time"; empty: none
    std::filesystem::path measurement; ///< where gains and times come from: a `bench --json`
    bool dark = false;
    std::filesystem::path picture;
    std::filesystem::path screenshots; ///< window: take pictures into this folder instead
    std::filesystem::path diffA;
    std::filesystem::path diffB;
    ServeOptions serve;
};

/// What the command line asks for, or what to print and with which exit code (help, version, usage errors).
struct Parsed {
    bool run = false;
    Options options;
    std::string out; ///< for stdout
    std::string err; ///< one sentence for stderr
    int exitCode = 0;
};

/// `opensWindow`: without a command and without anything to decide, check or write, the window is asked for.
Parsed parse(int argc, const char* const* argv, bool opensWindow = false);

/// "qkv=28" or "qkv>=28"; a usage error for all else and for unknown patterns.
Result<Requirement> parseRequirement(const std::string& text);

} // namespace workbench::cli
