#include "app/gui/window/help_dialogs.h"

#include <QtCore/QCoreApplication>
#include <QtCore/QSysInfo>
#include <QtGui/QAction>
#include <QtWidgets/QApplication>
#include <QtWidgets/QDialogButtonBox>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QHeaderView>
#include <QtWidgets/QLabel>
#include <QtWidgets/QMainWindow>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QStyledItemDelegate>
#include <QtWidgets/QTableWidget>

#include <array>
#include <map>

namespace workbench::gui {
namespace {

constexpr int kAboutWidth = 420, kPicture = 64; // device-independent pixels

struct Step {
    const char* title;
    const char* text;
    const char* panel;
};

constexpr std::array kSteps = {
    Step{
        QT_TRANSLATE_NOOP("tour", "A small model"),
        QT_TRANSLATE_NOOP(
            "tour",
            "The example is a decoder of eight layers, traced without weights. Everything that you see works "
            "the same on a large model: open its folder, a .pt2 archive, or its name."),
        ""},
    Step{
        QT_TRANSLATE_NOOP("tour", "Overview"),
        QT_TRANSLATE_NOOP(
            "tour",
            "Each bar is a fusion pattern: how many places there are, how many were found, how many are "
            "done. Below it the modules, alike layers folded into one row, and what is left with the reason. "
            "Choose a bar to see only what is left of it."),
        "overview"},
    Step{QT_TRANSLATE_NOOP("tour", "Graph"),
         QT_TRANSLATE_NOOP("tour", "Double-click a module to open it, use the wheel to zoom and Ctrl+F to "
                                   "find an operation, a shape "
                                   "or a name. Colours mark the patterns; the legend switches them off."),
         "canvas"},
    Step{QT_TRANSLATE_NOOP("tour", "Why, and why not"),
         QT_TRANSLATE_NOOP(
             "tour",
             "The inspector tells what is chosen: shapes, weights, the line of Python that it comes from. "
             "For a "
             "site it lists each condition with what was found; for a near miss the first one that failed."),
         "inspector"},
    Step{QT_TRANSLATE_NOOP("tour", "Decide"),
         QT_TRANSLATE_NOOP("tour", "Every site is a row with a checkbox: apply one, a pattern, a range of "
                                   "layers, or all. Ctrl+Z takes "
                                   "any decision back. Verify proves that the numbers stay the same."),
         "decisions"},
    Step{QT_TRANSLATE_NOOP("tour", "Before and after"),
         QT_TRANSLATE_NOOP(
             "tour",
             "Both graphs side by side, moving together. Step through the rewrites with the arrow keys."),
         "before_after"},
    Step{QT_TRANSLATE_NOOP("tour", "Measure"),
         QT_TRANSLATE_NOOP("tour",
                           "Runs the model with and without the rewrites in turn, and draws tokens per "
                           "second while it runs. "
                           "What a pattern brings is found by leaving it out; Bisect names a guilty one."),
         "measure"},
    Step{QT_TRANSLATE_NOOP("tour", "Take the plan with you"),
         QT_TRANSLATE_NOOP("tour", "Ctrl+S saves the decisions with their proofs as a plan, which servers "
                                   "read and this window opens "
                                   "again. Export writes the rewritten program and source too."),
         ""},
};

QDialog* dialogWith(QWidget* parent, const QString& title, QWidget* content) {
    auto* dialog = new QDialog(parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    auto* column = new QVBoxLayout(dialog);
    column->addWidget(content);
    column->addWidget(buttons);
    return dialog;
}

/// In a table that is only read no cell is special.
class RowDelegate : public QStyledItemDelegate {
    using QStyledItemDelegate::QStyledItemDelegate;
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        option->state &= ~QStyle::State_HasFocus;
    }
};

} // namespace

QDialog* makeAboutDialog(QWidget* parent, const std::map<std::string, std::string>& traced) {
    QString text =
        TourDialog::tr(
            "<h2>Fusion Workbench %1</h2>"
            "<p>Finds the fusions of a language model, lets you decide each one with proof and measurement, "
            "and exports them as a plan.</p><table cellspacing=0 cellpadding=2>")
            .arg(WORKBENCH_VERSION);
    const auto line = [&](const QString& name, const QString& version) {
        text += QString("<tr><td>%1</td><td>%2</td></tr>").arg(name.toHtmlEscaped(), version.toHtmlEscaped());
    };
    line("Qt", QString::fromLatin1(qVersion()));
    line(TourDialog::tr("System"), QSysInfo::prettyProductName());
    for (const auto& [name, version] : traced)
        line(QString::fromStdString(name), QString::fromStdString(version));
    text += TourDialog::tr(
        "</table><p>Apache License 2.0. Qt is used under the LGPL, Graphviz under the EPL.</p>");
    auto* label = new QLabel(text);
    label->setTextFormat(Qt::RichText);
    label->setWordWrap(true);
    label->setFixedWidth(kAboutWidth);
    label->setMinimumHeight(label->heightForWidth(kAboutWidth)); // else the lines below a table are cut
    label->setTextInteractionFlags(Qt::TextBrowserInteraction);
    auto* picture = new QLabel;
    picture->setPixmap(QApplication::windowIcon().pixmap(kPicture, kPicture));
    picture->setAccessibleName(TourDialog::tr("Icon of the program"));
    auto* content = new QWidget;
    auto* row = new QHBoxLayout(content);
    row->setSpacing(16);
    row->addWidget(picture, 0, Qt::AlignTop);
    row->addWidget(label);
    QDialog* dialog = dialogWith(parent, TourDialog::tr("About"), content);
    dialog->setObjectName("about");
    return dialog;
}

QDialog* makeShortcutsDialog(const QMainWindow& window, QWidget* parent) {
    auto* table = new QTableWidget(0, 2);
    table->setHorizontalHeaderLabels({TourDialog::tr("Action"), TourDialog::tr("Keys")});
    table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table->verticalHeader()->hide();
    table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 8);
    table->setSelectionMode(QAbstractItemView::NoSelection);
    table->setItemDelegate(new RowDelegate(table));
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setShowGrid(false);
    table->setAlternatingRowColors(true);
    table->setAccessibleName(TourDialog::tr("Shortcuts"));
    for (const QAction* action : window.findChildren<QAction*>()) {
        if (action->shortcut().isEmpty() || action->text().isEmpty())
            continue;
        const int row = table->rowCount();
        table->insertRow(row);
        table->setItem(row, 0, new QTableWidgetItem(action->text().remove('&').remove(QStringLiteral("…"))));
        table->setItem(row, 1, new QTableWidgetItem(action->shortcut().toString(QKeySequence::NativeText)));
    }
    table->setMinimumSize(460, 420);
    QDialog* dialog = dialogWith(parent, TourDialog::tr("Keyboard"), table);
    dialog->setObjectName("shortcuts");
    return dialog;
}

TourDialog::TourDialog(QWidget* parent)
    : QDialog(parent, Qt::Tool), m_title(new QLabel), m_text(new QLabel), m_count(new QLabel),
      m_back(new QPushButton(tr("Back"))), m_next(new QPushButton) {
    setObjectName("tour");
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Tour"));
    QFont font = m_title->font();
    font.setPointSizeF(font.pointSizeF() * 1.3);
    font.setBold(true);
    m_title->setFont(font);
    m_text->setWordWrap(true);
    m_text->setMinimumSize(380, 110);
    m_text->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_next->setObjectName("nextStep");
    m_next->setDefault(true);
    connect(m_back, &QPushButton::clicked, this, [this] { go(m_step - 1); });
    connect(m_next, &QPushButton::clicked, this, [this] {
        if (m_step + 1 == steps())
            close();
        else
            go(m_step + 1);
    });
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_count);
    buttons->addStretch(1);
    buttons->addWidget(m_back);
    buttons->addWidget(m_next);
    auto* column = new QVBoxLayout(this);
    column->addWidget(m_title);
    column->addWidget(m_text, 1);
    column->addLayout(buttons);
    go(0);
}

int TourDialog::steps() {
    return static_cast<int>(kSteps.size());
}

void TourDialog::go(int step) {
    m_step = step;
    const Step& shown = kSteps[static_cast<std::size_t>(step)];
    m_title->setText(QCoreApplication::translate("tour", shown.title));
    m_text->setText(QCoreApplication::translate("tour", shown.text));
    m_count->setText(tr("%1 of %2").arg(step + 1).arg(steps()));
    m_back->setEnabled(step > 0);
    m_next->setText(step + 1 == steps() ? tr("Done") : tr("Next"));
    if (*shown.panel != '\0')
        Q_EMIT panelWanted(shown.panel);
}

} // namespace workbench::gui
