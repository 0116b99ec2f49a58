#include "app/gui/window/start_page.h"

#include "app/gui/window/recent_models.h"

#include <QtCore/QDateTime>
#include <QtCore/QDir>
#include <QtCore/QFileInfo>
#include <QtCore/QLocale>
#include <QtWidgets/QCommandLinkButton>
#include <QtWidgets/QGroupBox>
#include <QtWidgets/QLabel>
#include <QtWidgets/QListWidget>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QVBoxLayout>

#include <memory>

namespace workbench::gui {
namespace {

constexpr int kWidth = 960; // device-independent pixels: longer lines are hard to read

QCommandLinkButton* link(const QString& text, const QString& description) {
    auto* button = new QCommandLinkButton(text, description);
    button->setAccessibleName(text);
    button->setAccessibleDescription(description);
    return button;
}

QLabel* heading(const QString& text, double scale) {
    auto* label = new QLabel(text);
    QFont font = label->font();
    font.setPointSizeF(font.pointSizeF() * scale);
    font.setBold(true);
    label->setFont(font);
    label->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    return label;
}

} // namespace

StartPage::StartPage(QWidget* parent)
    : QWidget(parent), m_recent(new QListWidget), m_unsavedBox(new QWidget),
      m_unsavedList(new QVBoxLayout(m_unsavedBox)) {
    setObjectName("startPage");
    m_recent->setObjectName("recentModels");
    m_recent->setAccessibleName(tr("Recent models"));
    m_recent->setAlternatingRowColors(true);
    m_recent->setMouseTracking(true);
    m_recent->setUniformItemSizes(true);
    connect(m_recent, &QListWidget::itemActivated, this, [this](const QListWidgetItem* item) {
        if (const QString model = item->data(Qt::UserRole).toString(); !model.isEmpty())
            Q_EMIT modelChosen(model);
    });

    m_recent->setSpacing(3);
    m_recent->setFrameShape(QFrame::NoFrame);
    auto* recent = new QVBoxLayout;
    recent->setSpacing(8);
    recent->addWidget(heading(tr("Recent"), 1.2));
    recent->addWidget(m_recent, 1);
    auto* columns = new QHBoxLayout;
    columns->setSpacing(32);
    columns->addWidget(makeBeginning(), 5);
    columns->addLayout(recent, 6);

    auto* content = new QWidget;
    content->setMaximumWidth(kWidth);
    auto* page = new QVBoxLayout(content);
    page->setSpacing(16);
    page->addWidget(heading(tr("Fusion Workbench"), 1.9));
    auto* purpose =
        new QLabel(tr("Open a language model, see every place where operations can be fused, decide each one "
                      "with proof and measurement, and leave with a plan for servers."));
    purpose->setWordWrap(true);
    page->addWidget(purpose);
    page->addWidget(m_unsavedBox);
    page->addLayout(columns, 1);
    auto* outer = new QHBoxLayout(this);
    outer->setContentsMargins(32, 32, 32, 32);
    outer->addStretch(1);
    outer->addWidget(content, 100);
    outer->addStretch(1);
    m_unsavedList->setContentsMargins(0, 0, 0, 0);
    m_unsavedBox->hide();
    showRecent();
}

QWidget* StartPage::makeBeginning() {
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    column->addWidget(heading(tr("Begin"), 1.2));
    auto* folder =
        link(tr("Open a model folder"), tr("With config.json; weights are optional. Or drop it here."));
    auto* file = link(tr("Open a .pt2 archive"), tr("A program that torch.export wrote."));
    auto* name = link(tr("Open by name"), tr("org/name from the Hugging Face cache, or downloaded."));
    auto* tour = link(tr("Take the tour"), tr("Five minutes on a bundled example."));
    connect(folder, &QAbstractButton::clicked, this, &StartPage::folderWanted);
    connect(file, &QAbstractButton::clicked, this, &StartPage::fileWanted);
    connect(name, &QAbstractButton::clicked, this, &StartPage::nameWanted);
    connect(tour, &QAbstractButton::clicked, this, &StartPage::tourWanted);
    for (QWidget* button : {folder, file, name, tour})
        column->addWidget(button);
    column->addStretch(1);
    return box;
}

void StartPage::showRecent() {
    m_recent->clear();
    for (const QString& model : recentModels()) {
        auto* item =
            new QListWidgetItem(QDir(model).dirName() + "\n" + QDir::toNativeSeparators(model), m_recent);
        item->setData(Qt::UserRole, model);
        item->setToolTip(model);
    }
    if (m_recent->count() == 0) {
        auto* hint = new QListWidgetItem(tr("Models that you open are listed here."), m_recent);
        hint->setFlags(Qt::NoItemFlags);
    }
}

void StartPage::showUnsaved(std::vector<Autosaved> work) {
    m_unsaved.clear();
    for (Autosaved& one : work)
        m_unsaved.push_back(std::make_shared<Autosaved>(std::move(one)));
    showUnsavedList();
}

void StartPage::showUnsavedList() {
    while (QLayoutItem* item = m_unsavedList->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    m_unsavedBox->setVisible(!m_unsaved.empty());
    if (m_unsaved.empty())
        return;
    m_unsavedList->addWidget(heading(tr("Unsaved work of a window that ended unexpectedly"), 1.2));
    for (const auto& work : m_unsaved) {
        const QString when =
            QLocale().toString(QDateTime::fromSecsSinceEpoch(work->savedAt), QLocale::ShortFormat);
        auto* line = new QHBoxLayout;
        line->addWidget(new QLabel(tr("%1, from %2").arg(QString::fromStdString(work->model), when)), 1);
        auto* open = new QPushButton(tr("Go on with it"));
        auto* drop = new QPushButton(tr("Discard"));
        connect(open, &QPushButton::clicked, this, [this, work] {
            std::erase(m_unsaved, work);
            Q_EMIT unsavedChosen(work);
            QMetaObject::invokeMethod(this, &StartPage::showUnsavedList, Qt::QueuedConnection);
        });
        connect(drop, &QPushButton::clicked, this, [this, work] {
            std::erase(m_unsaved, work);
            forgetWork(*work);
            QMetaObject::invokeMethod(this, &StartPage::showUnsavedList, Qt::QueuedConnection);
        });
        line->addWidget(open);
        line->addWidget(drop);
        auto* row = new QWidget;
        row->setLayout(line);
        line->setContentsMargins(0, 0, 0, 0);
        m_unsavedList->addWidget(row);
    }
}

} // namespace workbench::gui
