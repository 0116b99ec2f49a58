#include "app/gui/window/workspace.h"

#include <QtCore/QCoreApplication>
#include <QtCore/QEvent>
#include <QtCore/QSettings>
#include <QtGui/QAction>
#include <QtWidgets/QDockWidget>
#include <QtWidgets/QLabel>
#include <QtWidgets/QTabBar>
#include <QtWidgets/QTabWidget>

#include <algorithm>
#include <utility>

namespace workbench::gui {
namespace {

constexpr int kStateVersion =
    1; // of the saved places: docks that are gone or new are fine, another scheme is not
constexpr const char* kPlaces = "workspace/places";
constexpr const char* kCentre = "workspace/centre";
constexpr double kLeftShare = 0.2; // of the width, at first
constexpr double kRightShare = 0.23;
constexpr double kBottomShare = 0.3;
// In device-independent pixels: what a panel needs to say at a glance, and more than what it can use.
constexpr int kLeastSide = 230, kMostSide = 520;

Qt::DockWidgetArea areaOf(Place place) {
    switch (place) {
    case Place::right:
        return Qt::RightDockWidgetArea;
    case Place::bottom:
        return Qt::BottomDockWidgetArea;
    default:
        return Qt::LeftDockWidgetArea;
    }
}

int sideWidth(Place place, int whole) {
    return std::clamp(static_cast<int>(whole * (place == Place::left ? kLeftShare : kRightShare)), kLeastSide,
                      kMostSide);
}

QString translated(const PanelSpec& spec) {
    return QCoreApplication::translate("panels", spec.title);
}

} // namespace

Workspace::Workspace(Document& document, Selection& selection, const std::vector<PanelSpec>& specs,
                     QWidget* parent)
    : QMainWindow(parent, Qt::Widget), m_centre(new QTabWidget) {
    setObjectName("workspace");
    setDockNestingEnabled(true);
    setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks |
                   GroupedDragging); // tabs can be dragged out
    setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    m_centre->setObjectName("centre");
    m_centre->setDocumentMode(true);
    m_centre->setTabBarAutoHide(true);
    setCentralWidget(m_centre);
    for (const PanelSpec& spec : specs)
        add(spec, document, selection);
    m_centre->setVisible(m_centre->count() > 0);
    placeDocks();
    restore();
}

Workspace::~Workspace() {
    save();
}

void Workspace::add(const PanelSpec& spec, Document& document, Selection& selection) {
    Entry entry{spec, spec.create(document, selection, this), nullptr, nullptr};
    entry.panel->setObjectName(spec.id);
    entry.panel->setAccessibleName(translated(spec));
    if (spec.place == Place::centre) {
        m_centre->addTab(entry.panel, translated(spec));
        entry.toggle = new QAction(translated(spec), this);
        connect(entry.toggle, &QAction::triggered, this, [this, id = QString(spec.id)] { showPanel(id); });
    } else {
        addDock(entry);
    }
    m_entries.push_back(entry);
}

void Workspace::addDock(Entry& entry) {
    entry.dock = new QDockWidget(translated(entry.spec), this);
    entry.dock->setObjectName(QString(entry.spec.id) + "Dock");
    entry.dock->setWidget(entry.panel);
    entry.toggle = entry.dock->toggleViewAction();
    addDockWidget(areaOf(entry.spec.place), entry.dock);
    const auto later = [this] {
        QMetaObject::invokeMethod(this, &Workspace::updateTitles, Qt::QueuedConnection);
    };
    connect(entry.dock, &QDockWidget::visibilityChanged, this, later);
    connect(entry.dock, &QDockWidget::topLevelChanged, this, later);
    connect(entry.dock, &QDockWidget::dockLocationChanged, this, later);
}

/// A tab says the title already: a second line of it would take the room of a row.
void Workspace::updateTitles() {
    for (const Entry& entry : m_entries) {
        if (!entry.dock)
            continue;
        const QList<QDockWidget*> beside =
            entry.dock->isFloating() ? QList<QDockWidget*>() : tabifiedDockWidgets(entry.dock);
        const bool isTab = std::any_of(beside.begin(), beside.end(), [](const QDockWidget* dock) {
            return dock->toggleViewAction()->isChecked();
        });
        if (isTab == (entry.dock->titleBarWidget() != nullptr))
            continue;
        delete entry.dock->titleBarWidget();
        entry.dock->setTitleBarWidget(isTab ? new QWidget(entry.dock) : nullptr);
    }
}

/// Docks of one side share it as tabs, the first one in front.
void Workspace::placeDocks() {
    for (const Place place : {Place::left, Place::right, Place::bottom}) {
        QDockWidget* first = nullptr;
        for (const Entry& entry : m_entries) {
            if (!entry.dock || entry.spec.place != place)
                continue;
            addDockWidget(areaOf(place), entry.dock);
            entry.dock->setFloating(false);
            entry.dock->show();
            if (first)
                tabifyDockWidget(first, entry.dock);
            else
                first = entry.dock;
        }
        if (first)
            first->raise();
    }
}

/// Shares of the whole; only what is laid out can be resized.
void Workspace::sizeDocks() {
    for (const Entry& entry : m_entries) {
        if (!entry.dock || entry.dock->isFloating())
            continue;
        if (entry.spec.place == Place::bottom)
            resizeDocks({entry.dock}, {static_cast<int>(height() * kBottomShare)}, Qt::Vertical);
        else
            resizeDocks({entry.dock}, {sideWidth(entry.spec.place, width())}, Qt::Horizontal);
    }
}

void Workspace::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    if (!std::exchange(m_sized, true))
        QMetaObject::invokeMethod(this, &Workspace::sizeDocks, Qt::QueuedConnection);
}

void Workspace::resetLayout() {
    QSettings().remove("workspace");
    placeDocks();
    sizeDocks();
    m_centre->setCurrentIndex(0);
}

void Workspace::save() const {
    QSettings settings;
    settings.setValue(kPlaces, saveState(kStateVersion));
    if (const QWidget* current = m_centre->currentWidget())
        settings.setValue(kCentre, current->objectName());
    for (const Entry& entry : m_entries) {
        settings.beginGroup(QStringLiteral("panel/") + entry.spec.id);
        entry.panel->saveState(settings);
        settings.endGroup();
    }
}

void Workspace::restore() {
    QSettings settings;
    m_sized = restoreState(settings.value(kPlaces).toByteArray(), kStateVersion);
    for (const Entry& entry : m_entries) {
        settings.beginGroup(QStringLiteral("panel/") + entry.spec.id);
        entry.panel->restoreState(settings);
        settings.endGroup();
        if (!entry.dock && settings.value(kCentre).toString() == entry.spec.id)
            m_centre->setCurrentWidget(entry.panel);
    }
}

void Workspace::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    // Later: the panels get their own palettes after this one's.
    if (event->type() == QEvent::PaletteChange)
        QMetaObject::invokeMethod(this, &Workspace::tellTheme, Qt::QueuedConnection);
}

void Workspace::tellTheme() {
    for (const Entry& entry : m_entries)
        entry.panel->themeChanged();
}

const Workspace::Entry* Workspace::find(const QString& id) const {
    const auto found = std::find_if(m_entries.begin(), m_entries.end(),
                                    [&](const Entry& entry) { return id == entry.spec.id; });
    return found == m_entries.end() ? nullptr : &*found;
}

Panel* Workspace::panel(const QString& id) const {
    const Entry* entry = find(id);
    return entry ? entry->panel : nullptr;
}

std::vector<QString> Workspace::ids() const {
    std::vector<QString> ids;
    for (const Entry& entry : m_entries)
        ids.emplace_back(entry.spec.id);
    return ids;
}

QString Workspace::titleOf(const QString& id) const {
    const Entry* entry = find(id);
    return entry ? translated(entry->spec) : QString();
}

void Workspace::showPanel(const QString& id) {
    const Entry* entry = find(id);
    if (!entry)
        return;
    if (entry->dock) {
        entry->dock->show();
        entry->dock->raise();
    } else {
        m_centre->setCurrentWidget(entry->panel);
    }
    entry->panel->setFocus(Qt::OtherFocusReason);
}

QList<QAction*> Workspace::toggles() const {
    QList<QAction*> actions;
    for (const Entry& entry : m_entries)
        actions += entry.toggle;
    return actions;
}

QList<QAction*> Workspace::actionsFor(Panel::Menu menu) const {
    QList<QAction*> actions;
    for (const Entry& entry : m_entries)
        actions += entry.panel->actionsFor(menu);
    return actions;
}

} // namespace workbench::gui
