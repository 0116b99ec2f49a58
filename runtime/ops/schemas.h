// The operators' schemas; resources/python/workbench_ops has the same, and tests/python/ops compares them.
#pragma once

namespace workbench::ops {

struct Schema {
    const char* name;
    const char* text;
};

inline constexpr Schema kSchemas[] = {
    {"attention", "attention(Tensor query, Tensor key, Tensor value, Tensor positions, *, int layer, float "
                  "scale, str mask, "
                  "int window, float softcap, Tensor? sinks, Tensor? slopes) -> Tensor"},
    {"mask", "mask(Tensor positions, *, str kind, int window) -> Tensor"},
    {"rms_norm",
     "rms_norm(Tensor input, Tensor? weight, *, float eps, float weight_offset, str cast) -> Tensor"},
    {"add_rms_norm",
     "add_rms_norm(Tensor input, Tensor residual, Tensor? weight, *, float eps, float weight_offset, "
     "str cast) -> (Tensor normed, Tensor sum)"},
    {"act_and_mul", "act_and_mul(Tensor gate_up, *, str activation) -> Tensor"},
    {"rope", "rope(Tensor query, Tensor key, Tensor cos, Tensor sin, *, str style) -> (Tensor, Tensor)"},
    {"qk_norm_rope",
     "qk_norm_rope(Tensor query, Tensor key, Tensor? query_weight, Tensor? key_weight, Tensor cos, "
     "Tensor sin, *, float eps, float weight_offset, str cast, str style) -> (Tensor, Tensor)"},
    {"moe_experts", "moe_experts(Tensor hidden, Tensor routing_weights, Tensor indices, Tensor gate_up, "
                    "Tensor down, *, str activation) -> Tensor"},
    {"moe_route", "moe_route(Tensor logits, *, int top_k, str order, bool renormalize, bool sorted, "
                  "ScalarType dtype) -> (Tensor weights, Tensor indices)"},
};

/// Of the library alone, in a namespace workbench_engine: no exported program has them, and the package does
/// not. attention_on_tables is attentionOnTables() for tests from Python; it makes the tables on the host,
/// and so waits for the device.
inline constexpr Schema kEngineSchemas[] = {
    {"attention_on_tables",
     "attention_on_tables(Tensor query, Tensor key, Tensor value, Tensor positions, Tensor(a!) key_pages, "
     "Tensor(b!) value_pages, Tensor sequences, Tensor blocks, *, float scale, str mask, int window, "
     "float softcap, Tensor? sinks, Tensor? slopes) -> Tensor"},
};

} // namespace workbench::ops
