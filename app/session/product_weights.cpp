#include "app/session/product_weights.h"

#include <cstdint>
#include <iomanip>
#include <sstream>

namespace workbench {
namespace {

struct Count {
    std::int64_t matrices = 0;
    double bytes = 0;

    std::string megabytes() const {
        std::ostringstream text;
        text << std::fixed << std::setprecision(bytes < 1e5 ? 3 : 1) << bytes / 1e6 << " MB";
        return text.str();
    }
};

Count countOf(const nlohmann::json& products, const char* key) {
    Count count;
    if (!products.is_object())
        return count;
    const auto found = products.find(key);
    if (found == products.end() || !found->is_object())
        return count;
    const auto number = [&](const char* name) {
        const auto value = found->find(name);
        return value != found->end() && value->is_number() ? value->get<double>() : 0.0;
    };
    return {static_cast<std::int64_t>(number("matrices")), number("bytes")};
}

} // namespace

bool leavesProductWeights(const nlohmann::json& products) {
    return countOf(products, "stored").matrices > 0;
}

std::string describeProducts(const nlohmann::json& products, const std::string& format) {
    const Count quantised = countOf(products, "quantised"), stored = countOf(products, "stored"),
                precise = countOf(products, "precise");
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    const auto stay = [](const Count& count) {
        return (count.matrices == 1 ? "1 matrix" : std::to_string(count.matrices) + " matrices") +
               " that products read " + (count.matrices == 1 ? "stays as it is" : "stay as they are") +
               " stored";
    };
    if (stored.matrices > 0)
        add(stay(stored) + " (" + stored.megabytes() + ")");
    if (precise.matrices > 0)
        add((stored.matrices > 0 ? std::to_string(precise.matrices) + " more" : stay(precise)) +
            " on purpose (" + precise.megabytes() + ": routers, and float32 among bfloat16)");
    if (!text.empty())
        add(std::to_string(quantised.matrices) + (quantised.matrices == 1 ? " is in " : " are in ") + format +
            " (" + quantised.megabytes() + ")");
    return text;
}

} // namespace workbench
