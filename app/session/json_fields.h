#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// Fields of the messages that our helpers send. They may be another version's: a field that is missing or of
/// another type, and any field of what is no object, is none.

namespace workbench {

std::string textOf(const nlohmann::json& object, const char* key);     ///< "": none
double numberOf(const nlohmann::json& object, const char* key);        ///< NaN: none, or JSON's null
std::int64_t integerOf(const nlohmann::json& object, const char* key); ///< 0: none
/// Empty: none. An element that is no integer is -1.
std::vector<std::int64_t> integersOf(const nlohmann::json& object, const char* key);

} // namespace workbench
