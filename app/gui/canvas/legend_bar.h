#pragma once

#include "app/draw/paint.h"

#include <QtWidgets/QScrollArea>

#include <set>
#include <vector>

class QHBoxLayout;

namespace workbench::gui {

/// The patterns of the drawing with their colours and counts. Each one is a switch: a pattern that is off is
/// painted like any other node. Shift-click, or the keyboard's S, leaves one alone on.
class LegendBar : public QScrollArea {
    Q_OBJECT
public:
    explicit LegendBar(QWidget* parent = nullptr);

    void setEntries(const std::vector<LegendEntry>& entries, const Theme& theme);
    const std::set<std::int32_t>& hiddenSlots() const { return m_hidden; }
    void setHiddenSlots(std::set<std::int32_t> slots);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void hiddenChanged();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void rebuild();
    void fit();
    void showOnly(std::int32_t slot);

    QHBoxLayout* m_layout;
    std::vector<LegendEntry> m_entries;
    const Theme* m_theme = nullptr;
    std::set<std::int32_t> m_hidden;
};

} // namespace workbench::gui
