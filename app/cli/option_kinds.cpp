#include "app/cli/option_kinds.h"

#include <charconv>

namespace workbench::cli {

CLI::Option* addRepeatable(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                           const std::string& help) {
    return app.add_option(name, values, help)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// The parser's own conversion takes what does not fit for the largest number.
CLI::Validator wholeNumber(std::int64_t least, std::int64_t most) {
    return CLI::Validator(
        [least, most](std::string& text) {
            std::int64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool isNumber = error == std::errc() && end == text.data() + text.size();
            if (isNumber && value >= least && value <= most)
                return std::string();
            return "'" + text + "' is no whole number of at least " + std::to_string(least) +
                   " (and at most " + (most == INT64_MAX ? "63 bits" : std::to_string(most)) + ")";
        },
        "");
}

CLI::Option* addSwitch(CLI::App& app, const std::string& name, bool& value, const std::string& help) {
    return app.add_flag(name, value, help)->disable_flag_override();
}

} // namespace workbench::cli
