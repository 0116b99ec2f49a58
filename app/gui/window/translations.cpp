#include "app/gui/window/translations.h"

#include <QtCore/QCoreApplication>
#include <QtCore/QTranslator>

/// Resources of a static library; the macro wants no namespace around it.
static void initTranslations() {
#ifdef WORKBENCH_TRANSLATIONS
    Q_INIT_RESOURCE(translations);
#endif
}

namespace workbench::gui {
namespace {

bool install(QCoreApplication& application, const QLocale& locale) {
    auto* translator = new QTranslator(&application);
    if (translator->load(locale, "workbench", "_", ":/translations"))
        return QCoreApplication::installTranslator(translator);
    delete translator;
    return false;
}

} // namespace

bool installTranslations(QCoreApplication& application, const QLocale& locale) {
    initTranslations();
    const bool hasPlurals = install(application, QLocale::English);
    if (locale.language() == QLocale::English)
        return hasPlurals;
    return install(application, locale) || hasPlurals;
}

} // namespace workbench::gui
