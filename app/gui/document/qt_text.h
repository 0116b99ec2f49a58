#pragma once

#include <QtCore/QString>

#include <string_view>

namespace workbench::gui {

inline QString qt(std::string_view utf8) {
    return QString::fromUtf8(utf8.data(), static_cast<qsizetype>(utf8.size()));
}

} // namespace workbench::gui
