#include "app/session/tokenizer_client.h"

#include <utility>

namespace workbench {
namespace {

using nlohmann::json;

Error helperFailed(const std::string& message) {
    return {ErrorCode::runtimeFailed, message, {}};
}

} // namespace

Result<TokenizerClient> TokenizerClient::start(const Tracer& tracer, const std::filesystem::path& model,
                                               bool trustRemoteCode) {
    std::vector<std::string> arguments = {"tokenizer", "--model", model.string()};
    if (trustRemoteCode)
        arguments.emplace_back("--trust-remote-code");
    auto helper = PythonHelper::start(tracer, "the tokenizer", std::move(arguments));
    if (!helper)
        return helper.error();
    return TokenizerClient(std::move(helper).value());
}

Result<json> TokenizerClient::request(const json& request, const Job& job) {
    return m_helper.request(request, job);
}

Result<TokenizerClient::Tokens> TokenizerClient::idsOf(const Result<json>& answer) {
    if (!answer)
        return answer.error();
    const auto ids = answer->find("ids");
    if (ids == answer->end() || !ids->is_array())
        return helperFailed("the tokenizer gave no tokens");
    Tokens tokens;
    for (const json& id : *ids) {
        if (!id.is_number_integer())
            return helperFailed("the tokenizer gave a token that is no integer");
        tokens.push_back(id.get<std::int64_t>());
    }
    return tokens;
}

Result<TokenizerClient::Tokens> TokenizerClient::encode(std::string_view text, const Job& job) {
    return idsOf(request({{"op", "encode"}, {"text", text}, {"add_special_tokens", true}}, job));
}

Result<TokenizerClient::Tokens> TokenizerClient::chat(std::string_view message, const Job& job) {
    const json messages = json::array({{{"role", "user"}, {"content", message}}});
    return idsOf(request({{"op", "chat"}, {"messages", messages}}, job));
}

Result<std::string> TokenizerClient::decode(const Tokens& tokens, const Job& job) {
    auto answer = request({{"op", "decode"}, {"ids", tokens}}, job);
    if (!answer)
        return answer.error();
    const auto text = answer->find("text");
    if (text == answer->end() || !text->is_string())
        return helperFailed("the tokenizer gave no text");
    return text->get<std::string>();
}

} // namespace workbench
