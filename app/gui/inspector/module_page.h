#pragma once

#include "app/gui/inspector/page.h"

#include <QtCore/QString>

namespace workbench::gui {

/// A module: its class, what is in it, its parameters, how much of it is fused, its forward before and after.
class ModulePage : public Page {
    Q_OBJECT
public:
    /// `weight`: the parameter whose numbers are shown; "" for none.
    ModulePage(const std::string& path, const std::string& weight, const PageContext& context,
               QWidget* parent);

private:
    void addFusion(const InspectedModule& module);
    void addParameters(const InspectedModule& module, const std::string& weight);
};

} // namespace workbench::gui
