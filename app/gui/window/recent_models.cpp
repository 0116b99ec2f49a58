#include "app/gui/window/recent_models.h"

#include <QtCore/QSettings>

namespace workbench::gui {
namespace {

constexpr const char* kKey = "recentModels";
constexpr qsizetype kMost = 12;

} // namespace

QStringList recentModels() {
    return QSettings().value(kKey).toStringList();
}

void rememberModel(const QString& model) {
    QStringList models = recentModels();
    models.removeAll(model);
    models.prepend(model);
    QSettings().setValue(kKey, models.mid(0, kMost));
}

void forgetModels() {
    QSettings().remove(kKey);
}

} // namespace workbench::gui
