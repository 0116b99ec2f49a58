#pragma once

#include <QtCore/QLocale>

class QCoreApplication;

namespace workbench::gui {

/// Texts of the language, and English plurals below them ("1 site", "2 sites"). False where the build has
/// none.
bool installTranslations(QCoreApplication& application, const QLocale& locale);

} // namespace workbench::gui
