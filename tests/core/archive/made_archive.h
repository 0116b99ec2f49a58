#pragma once

#include "core/archive/pt2_program.h"
#include "core/graph/text.h"
#include "core/support/zip_writer.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

/// Archives for tests: right ones, and ones with one thing wrong.

namespace workbench {

inline constexpr const char* kProgramText = R"(module "" Model
module "norm" Norm
input %ids: i64[1, s0]
parameter %w: f32[2, 3] "norm.weight"
buffer %scale: bf16[3] "norm.scale"
%e: f32[1, s0, 3] = aten.embedding.default(weight=%w, indices=%ids) @"norm" from "/src/model.py":12 forward
%v: f32[s0, 3] = aten.view.default(self=%e, size=[s0, 3]) @"norm" from "/src/model.py":13 forward
%a: f32[s0, 1], %b: f32[s0, 2] = aten.split_with_sizes.default(self=%v, split_sizes=[1, 2], dim=-1)
%y: f32[s0, 3] = aten.mul.Tensor(self=%v, other=%scale)
output %y, %b
)";

/// The parts of an archive, to be changed before they are zipped.
struct MadeArchive {
    nlohmann::json program;
    nlohmann::json weights;
    nlohmann::json constants;
    std::vector<std::pair<std::string, std::string>> data;

    explicit MadeArchive(const char* text = kProgramText) {
        Result<Graph> graph = parseGraph(text);
        EXPECT_TRUE(graph) << graph.error().message;
        Result<nlohmann::json> described = pt2::describeProgram(*graph, "");
        EXPECT_TRUE(described) << described.error().message;
        program = std::move(*described);
        weights = {{"config", nlohmann::json::object()}};
        constants = {{"config", nlohmann::json::object()}};
        weights["config"]["norm.weight"] = payload("weight_0", ScalarType::f32, {2, 3});
        constants["config"]["norm.scale"] = payload("tensor_0", ScalarType::bf16, {3});
        data = {{"data/weights/weight_0", std::string(24, 'w')},
                {"data/constants/tensor_0", std::string(6, 'c')}};
    }

    static nlohmann::json payload(const char* member, ScalarType dtype,
                                  const std::vector<std::int64_t>& shape) {
        TensorMeta meta{dtype, {}};
        for (std::int64_t size : shape)
            meta.shape.emplace_back(size);
        return {{"path_name", member},
                {"is_param", true},
                {"use_pickle", false},
                {"tensor_meta", pt2::storedMeta(meta)}};
    }

    nlohmann::json& graph() { return program["graph_module"]["graph"]; }
    /// The node that makes the tensor.
    nlohmann::json& node(const std::string& name) {
        for (nlohmann::json& node : graph()["nodes"])
            if (node["name"] == name)
                return node;
        ADD_FAILURE() << "no node " << name;
        return graph();
    }

    std::string bytes() const {
        std::vector<std::pair<std::string, std::string>> members = {
            {"m/models/model.json", program.dump()},
            {"m/data/weights/model_weights_config.json", weights.dump()},
            {"m/data/constants/model_constants_config.json", constants.dump()}};
        for (const auto& [name, content] : data)
            members.emplace_back("m/" + name, content);
        return zipBytes(members);
    }
};

} // namespace workbench
