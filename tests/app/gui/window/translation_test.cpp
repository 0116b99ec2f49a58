#include "app/gui/window/help_dialogs.h"
#include "app/gui/window/translations.h"
#include "fusion/match/pattern.h"
#include "tests/app/gui/window/own_folder.h"

#include <QtCore/QRegularExpression>
#include <QtCore/QTranslator>
#include <QtGui/QAction>
#include <QtWidgets/QAbstractButton>
#include <QtWidgets/QAbstractItemView>
#include <QtWidgets/QApplication>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QDialogButtonBox>
#include <QtWidgets/QDockWidget>
#include <QtWidgets/QLabel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QMenu>
#include <QtWidgets/QTabBar>

#include <set>

/// Every text that the window itself says can be translated: a translator puts brackets around all of them,
/// and what is shown without is looked at.

namespace workbench::gui::test {
namespace {

class Brackets : public QTranslator {
public:
    QString translate(const char* context, const char* text, const char*, int) const override {
        // Qt's own texts have translations of their own.
        return QByteArray(context).startsWith('Q') ? QString() : QString("⟦%1⟧").arg(QString::fromUtf8(text));
    }
    bool isEmpty() const override { return false; }
};

/// Words that are the same in every language: what the models, their operations and the hardware are called.
const std::set<QString>& names() {
    static const std::set<QString> all = [] {
        std::set<QString> words = {"CPU", "CUDA", "Qt", "ssh", "gpubox", "workbench", "worker"};
        for (const Pattern& pattern : patterns())
            words.insert(QString::fromUtf8(pattern.name.data(), qsizetype(pattern.name.size())));
        const auto model = smallModel(4);
        for (const ModuleInfo& module : model->canonical.modules) {
            words.insert(QString::fromStdString(module.className));
            for (const QString& part : QString::fromStdString(module.path).split('.'))
                words.insert(part);
        }
        return words;
    }();
    return all;
}

/// A path, a shape, a number, or a name: a word of letters alone that is none of the names is the window's
/// own.
bool isData(const QString& text) {
    static const QRegularExpression blanks(R"([\s,:;()\[\]/]+)");
    static const QRegularExpression word("^[A-Za-z]{3,}[.!?]?$");
    for (const QString& part : text.split(blanks, Qt::SkipEmptyParts))
        if (word.match(part).hasMatch() && !names().contains(part))
            return false;
    return true;
}

/// Qt's own parts, and those that show what the core says of a model and its patterns, in English.
bool isForeign(const QWidget& widget) {
    return widget.inherits("QDockWidgetTitleButton") || widget.inherits("workbench::gui::TextBlock") ||
           widget.objectName() == "sketch" || qobject_cast<const QDialogButtonBox*>(widget.parentWidget()) ||
           qobject_cast<const QTabBar*>(widget.parentWidget());
}

class Texts {
public:
    void add(const QObject& of, const QString& text) {
        if (text.trimmed().isEmpty() || text.contains("⟦") ||
            isData(QString(text).remove(QRegularExpression("<[^>]*>"))))
            return;
        m_bare.insert(QString("%1 \"%2\": %3")
                          .arg(of.metaObject()->className(), of.objectName(), text.left(120))
                          .toStdString());
    }
    void addWidget(const QWidget& widget) {
        if (isForeign(widget))
            return;
        for (const QString& text : {widget.windowTitle(), widget.toolTip(), widget.statusTip(),
                                    widget.accessibleName(), widget.accessibleDescription()})
            add(widget, text);
        if (const auto* label = qobject_cast<const QLabel*>(&widget))
            add(widget, label->text());
        if (const auto* button = qobject_cast<const QAbstractButton*>(&widget))
            add(widget, button->text());
        if (const auto* line = qobject_cast<const QLineEdit*>(&widget))
            add(widget, line->placeholderText());
        if (const auto* combo = qobject_cast<const QComboBox*>(&widget))
            for (int i = 0; i < combo->count(); ++i)
                add(widget, combo->itemText(i));
        if (const auto* tabs = qobject_cast<const QTabBar*>(&widget))
            for (int i = 0; i < tabs->count(); ++i)
                add(widget, tabs->tabText(i));
        if (const auto* menu = qobject_cast<const QMenu*>(&widget))
            add(widget, menu->title());
        if (const auto* view = qobject_cast<const QAbstractItemView*>(&widget); view && view->model())
            for (int column = 0; column < view->model()->columnCount(); ++column)
                add(widget, view->model()->headerData(column, Qt::Horizontal).toString());
    }
    void addAll(const QWidget& root) {
        addWidget(root);
        for (const QWidget* widget : root.findChildren<QWidget*>())
            addWidget(*widget);
        for (const QAction* action : root.findChildren<QAction*>())
            for (const QString& text : {action->text(), action->toolTip(), action->statusTip()})
                add(*action, text);
    }
    const std::set<std::string>& bare() const { return m_bare; }

private:
    std::set<std::string> m_bare;
};

using Translation = OwnFolder;

TEST_F(Translation, NoTextOfTheWindowIsBare) {
    Brackets brackets;
    QApplication::installTranslator(&brackets);
    Appearance appearance;
    auto window = std::make_unique<MainWindow>(m_locations, appearance);
    window->show();
    Texts texts;
    texts.addAll(*window);
    ModelTab* tab = openSmallIn(*window);
    ASSERT_FALSE(HasFailure());
    settle(tab->document());
    const std::vector<Site>& sites = tab->document().analysis().sites;
    tab->selection().selectSite(0, sites[0].module);
    for (const QString& id : tab->workspace()->ids()) {
        tab->workspace()->showPanel(id);
        ASSERT_TRUE(waitFor([&] { return !tab->document().working(); }));
        texts.addAll(*tab->workspace());
    }
    for (QDialog* dialog : {makeAboutDialog(nullptr, {}), static_cast<QDialog*>(new TourDialog(nullptr))}) {
        texts.addAll(*dialog);
        delete dialog;
    }
    window.reset();
    QApplication::removeTranslator(&brackets);
    for (const std::string& text : texts.bare())
        ADD_FAILURE() << text;
}

TEST_F(Translation, OneIsSingularAndTwoArePlural) {
    if (!installTranslations(*qApp, QLocale::English))
        GTEST_SKIP() << "built without Qt's LinguistTools";
    const auto sites = [](int n) {
        return QCoreApplication::translate("workbench::gui::ScopeBar", "Apply or take back %n sites", nullptr,
                                           n);
    };
    EXPECT_EQ(sites(1), "Apply or take back 1 site");
    EXPECT_EQ(sites(2), "Apply or take back 2 sites");
}

} // namespace
} // namespace workbench::gui::test
