#include "app/gui/canvas/hit_list.h"

#include "app/gui/document/qt_text.h"

#include <QtGui/QKeyEvent>
#include <QtGui/QPalette>
#include <QtWidgets/QApplication>
#include <QtWidgets/QHeaderView>

#include <algorithm>

namespace workbench::gui {
namespace {

constexpr int kMostRowsSeen = 5; // the graph needs the room

} // namespace

void HitsModel::setHits(std::vector<SearchHit> hits) {
    beginResetModel();
    m_hits = std::move(hits);
    endResetModel();
}

int HitsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_hits.size());
}

int HitsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : kColumns;
}

QVariant HitsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const SearchHit& hit = m_hits[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole:
        return qt(index.column() == kName ? hit.text : hit.context);
    case Qt::AccessibleTextRole:
        return tr("%1, %2").arg(qt(hit.text), qt(hit.context));
    case Qt::ForegroundRole:
        return index.column() == kContext ? QVariant(QApplication::palette().brush(QPalette::PlaceholderText))
                                          : QVariant();
    default:
        return {};
    }
}

HitList::HitList(HitsModel& hits, QWidget* parent) : QTreeView(parent), m_model(hits) {
    setObjectName("searchHits");
    setAccessibleName(tr("What was found"));
    setModel(&hits);
    setRootIsDecorated(false);
    setUniformRowHeights(true);
    setHeaderHidden(true);
    setAllColumnsShowFocus(true);
    setTextElideMode(Qt::ElideMiddle); // paths differ at both ends
    setFrameShape(QFrame::NoFrame);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    header()->setStretchLastSection(true);
    connect(&hits, &QAbstractItemModel::modelReset, this, &HitList::fit);
    connect(this, &QAbstractItemView::clicked, this,
            [this](const QModelIndex& index) { Q_EMIT hitChosen(index.row()); });
    hide();
}

void HitList::fit() {
    const int rows = m_model.rowCount();
    setVisible(rows > 0);
    updateGeometry();
}

/// Names and places are equally long.
void HitList::resizeEvent(QResizeEvent* event) {
    QTreeView::resizeEvent(event);
    setColumnWidth(HitsModel::kName, viewport()->width() / 2);
}

QSize HitList::sizeHint() const {
    const int row = std::max(sizeHintForRow(0), fontMetrics().height());
    return {QTreeView::sizeHint().width(), std::clamp(m_model.rowCount(), 1, kMostRowsSeen) * row};
}

void HitList::setCurrentHit(int row) {
    const QModelIndex index = m_model.index(row, HitsModel::kName);
    setCurrentIndex(index);
    if (index.isValid())
        scrollTo(index);
}

void HitList::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape)
        return Q_EMIT left();
    QTreeView::keyPressEvent(event);
    const bool moves = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter ||
                       event->key() == Qt::Key_Up || event->key() == Qt::Key_Down ||
                       event->key() == Qt::Key_PageUp || event->key() == Qt::Key_PageDown ||
                       event->key() == Qt::Key_Home || event->key() == Qt::Key_End;
    if (moves && currentIndex().isValid())
        Q_EMIT hitChosen(currentIndex().row());
}

} // namespace workbench::gui
