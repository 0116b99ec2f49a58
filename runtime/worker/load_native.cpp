#include "runtime/native/native_runner.h"
#include "runtime/worker/workshop.h"

namespace workbench {

/// {"available": true}, or false and the "reason": a model that has no hand-written code is no error.
Result<Reply> Workshop::loadNative(const Request& request) {
    const auto name = required<std::string>(request.params(), "name");
    const auto config = required<Json>(request.params(), "config");
    const auto dtype = required<std::string>(request.params(), "dtype");
    const auto parameters = required<std::vector<std::string>>(request.params(), "parameters");
    const auto spec = optional<Json>(request.params(), "weights", Json::object());
    if (const Error* error = firstError(name, config, dtype, parameters, spec))
        return *error;
    m_native.erase(*name);
    const auto type = scalarTypeFromName(*dtype);
    if (!type)
        return Error{ErrorCode::badInput, "The request has the unknown dtype '" + *dtype + "'.", {}};
    for (const auto& [other, loaded] : m_loaded)
        if (!loaded.model.program().placement().direct)
            return Reply{{{"available", false},
                          {"reason", "The hand-written code runs on the CPU, and " + other + " does not."}},
                         {}};
    // Sizes first: a model without hand-written code must not read weights for it.
    if (auto sizes = native::decoderConfig(*config); !sizes)
        return Reply{{{"available", false}, {"reason", sizes.error().message}}, {}};
    auto store = weights(*spec, c10::kCPU);
    if (!store)
        return store.error();
    auto decoder = native::makeDecoder(*config, *type, {parameters->begin(), parameters->end()}, **store);
    if (!decoder)
        return Reply{{{"available", false}, {"reason", decoder.error().message}}, {}};
    m_native.emplace(*name, std::move(*decoder));
    return Reply{{{"available", true}}, {}};
}

} // namespace workbench
