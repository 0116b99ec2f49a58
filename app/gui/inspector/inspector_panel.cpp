#include "app/gui/inspector/inspector_panel.h"

#include "app/gui/inspector/module_page.h"
#include "app/gui/inspector/node_page.h"
#include "app/gui/inspector/site_page.h"

#include <QtWidgets/QScrollBar>
#include <QtWidgets/QVBoxLayout>

#include <utility>

namespace workbench::gui {
namespace {

/// Device-independent pixels: below this, tables of names and places cannot be read.
constexpr int kNarrowest = 240;

} // namespace

InspectorPanel::InspectorPanel(Document& document, Selection& selection, QWidget* parent)
    : Panel(document, selection, parent), m_evidence(new Evidence(document, this)),
      m_scroll(new QScrollArea(this)) {
    setMinimumWidth(kNarrowest);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_scroll);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setAccessibleName(tr("Properties of what is chosen"));
    m_refresh.setSingleShot(true);
    m_refresh.setInterval(0);
    m_refresh.setObjectName("inspectorRefresh");
    connect(&m_refresh, &QTimer::timeout, this, &InspectorPanel::rebuild);
    const auto refresh = [this] { m_refresh.start(); };
    connect(&selection, &Selection::changed, this, &InspectorPanel::selectionChanged);
    connect(m_evidence, &Evidence::arrived, this, refresh);
    for (const auto signal : {&Document::decisionsChanged, &Document::rewrittenChanged,
                              &Document::proofsChanged, &Document::measuredChanged})
        connect(&document, signal, this, refresh);
    m_refresh.start();
}

/// What nobody sees is not drawn; it is when it comes into sight.
void InspectorPanel::showEvent(QShowEvent* event) {
    Panel::showEvent(event);
    m_refresh.start();
}

void InspectorPanel::selectionChanged() {
    m_keepPlace = false;
    m_weight.clear();
    m_refresh.start();
}

void InspectorPanel::rebuild() {
    if (!isVisible())
        return;
    const PageContext context{document(), *m_evidence, [this](const QString& target) { follow(target); },
                              [this](const QString& section) { return !m_closed.contains(section); },
                              [this](const QString& section, bool open) {
                                  if (open)
                                      m_closed.erase(section);
                                  else
                                      m_closed.insert(section);
                                  m_refresh.start(); // what stands in it is looked up when it is open
                              }};
    const int place = m_scroll->verticalScrollBar()->value();
    Page* page = nullptr;
    if (const auto& site = selection().site())
        page = new SitePage(*site, context, m_scroll);
    else if (selection().node() != kNone)
        page = new NodePage(selection().node(), context, m_scroll);
    else
        page = new ModulePage(selection().module(), m_weight, context, m_scroll);
    page->setObjectName("page");
    const QWidget* focused = focusWidget() && m_scroll->isAncestorOf(focusWidget()) ? focusWidget() : nullptr;
    const QString focusedName = focused ? focused->objectName() : QString();
    m_scroll->setWidget(page);
    if (auto* again = focusedName.isEmpty() ? nullptr : page->findChild<QWidget*>(focusedName))
        again->setFocus();
    if (std::exchange(m_keepPlace, true)) {
        page->layout()->activate();
        page->resize(m_scroll->viewport()->width(), page->sizeHint().height());
        m_scroll->verticalScrollBar()->setValue(place);
    }
}

void InspectorPanel::follow(const QString& target) {
    const QString kind = target.section(':', 0, 0), what = target.section(':', 1);
    if (kind == "node") {
        const NodeId node = what.toInt();
        selection().selectNode(node, std::string(document().graph().modulePath(node)));
    } else if (kind == "site") {
        const auto site = static_cast<std::size_t>(what.toULongLong());
        selection().selectSite(site, document().analysis().sites[site].module);
    } else if (kind == "module") {
        selection().selectModule(what.toStdString());
    } else if (kind == "weight") {
        m_weight = what.toStdString();
        m_refresh.start();
    }
}

void InspectorPanel::saveState(QSettings& settings) const {
    settings.setValue("closed", QStringList(m_closed.begin(), m_closed.end()));
}

void InspectorPanel::restoreState(const QSettings& settings) {
    const QStringList closed = settings.value("closed").toStringList();
    m_closed = {closed.begin(), closed.end()};
    m_refresh.start();
}

} // namespace workbench::gui
