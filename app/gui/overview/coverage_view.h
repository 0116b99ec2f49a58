#pragma once

#include "app/session/summary.h"

#include <QtCore/QAbstractListModel>
#include <QtWidgets/QListView>
#include <QtWidgets/QStyledItemDelegate>

namespace workbench::gui {

/// A row for each pattern: "qkv 28/28".
class CoverageModel : public QAbstractListModel {
    Q_OBJECT
public:
    using QAbstractListModel::QAbstractListModel;
    enum Role { pattern = Qt::UserRole, found, done, places };

    void setPatterns(std::vector<PatternSummary> patterns);
    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    std::vector<PatternSummary> m_patterns;
};

/// Name and numbers above a bar: what is done, within what was found, within all places.
class CoverageDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

} // namespace workbench::gui
