#pragma once

#include "core/graph/text.h"
#include "runtime/program/language_model.h"
#include "runtime/program/parameter_source.h"
#include "runtime/program/program.h"
#include "runtime/program/scalar_types.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

namespace workbench::test {

/// Parameters by name, from a test's own tensors; zeros of the right shape for a name that the test does not
/// care about.
class GivenTensors : public ParameterSource {
public:
    GivenTensors(std::map<std::string, at::Tensor> tensors = {}) : m_tensors(std::move(tensors)) {}

    Result<at::Tensor> fetch(const Input& input, const TensorMeta& meta) override;

private:
    std::map<std::string, at::Tensor> m_tensors;
};

/// A program from graph text; a failure fails the test and returns nullptr.
std::unique_ptr<Program> compile(const std::string& text, std::map<std::string, at::Tensor> parameters = {},
                                 Placement placement = {});
/// The message of the error that compiling gives; empty if it gives none.
std::string compileError(const std::string& text);

at::Tensor floats(const std::vector<float>& values, at::IntArrayRef shape);
at::Tensor longs(const std::vector<std::int64_t>& values, at::IntArrayRef shape);
std::vector<float> toVector(const at::Tensor& tensor);

/// A language model of one attention layer over 2 heads of width 4, with a vocabulary of 16; `mix` is put
/// between embedding and attention and makes %mixed from %hidden (both f32[1, s0, 8]).
std::string languageModelText(const std::string& mix);
std::map<std::string, at::Tensor> languageModelWeights();
/// Prompts for it, of 1 to 40 tokens, of which many begin alike.
std::vector<std::vector<std::int64_t>> prompts();
/// That model; a window of 0 sees everything.
LanguageModel modelOf(int window, const std::string& mixing = "aten.alias.default(self=%hidden)",
                      Placement placement = {});

} // namespace workbench::test
