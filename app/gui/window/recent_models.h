#pragma once

#include <QtCore/QString>
#include <QtCore/QStringList>

namespace workbench::gui {

/// Models that were opened, newest first; saved.
QStringList recentModels();
void rememberModel(const QString& model);
void forgetModels();

} // namespace workbench::gui
