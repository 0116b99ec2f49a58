#include "app/gui/canvas/legend_bar.h"

#include <QtCore/QLocale>
#include <QtGui/QKeyEvent>
#include <QtGui/QPainter>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QToolButton>

namespace workbench::gui {
namespace {

constexpr int kSwatch = 12;

QIcon swatch(const QColor& colour, const QColor& border, double ratio) {
    const auto picture = [&](bool filled) {
        QPixmap pixmap(QSize(kSwatch, kSwatch) * ratio);
        pixmap.setDevicePixelRatio(ratio);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(filled ? colour.darker(130) : border, 1));
        painter.setBrush(filled ? QBrush(colour) : Qt::NoBrush);
        painter.drawRoundedRect(QRectF(1, 1, kSwatch - 2, kSwatch - 2), 3, 3);
        return pixmap;
    };
    QIcon icon;
    icon.addPixmap(picture(true), QIcon::Normal, QIcon::On);
    icon.addPixmap(picture(false), QIcon::Normal, QIcon::Off);
    return icon;
}

QString countsText(const LegendEntry& entry) {
    const QLocale locale;
    const std::int64_t fused = entry.applied + entry.present;
    return LegendBar::tr("%1/%2").arg(
        locale.toString(qlonglong(fused)),
        locale.toString(qlonglong(fused + entry.offered + entry.rejected + entry.refused)));
}

QString tipText(const LegendEntry& entry) {
    QStringList parts;
    const auto add = [&](std::int64_t count, const QString& what) {
        if (count > 0)
            parts << QStringLiteral("%1 %2").arg(count).arg(what);
    };
    add(entry.applied, LegendBar::tr("applied"));
    add(entry.present, LegendBar::tr("fused already"));
    add(entry.offered, LegendBar::tr("offered"));
    add(entry.rejected, LegendBar::tr("rejected"));
    add(entry.refused, LegendBar::tr("refused"));
    return LegendBar::tr("%1: %2.\nClick to switch its colour off or on, Shift+click to see it alone.")
        .arg(QString::fromStdString(entry.pattern), parts.join(", "));
}

} // namespace

LegendBar::LegendBar(QWidget* parent) : QScrollArea(parent) {
    setObjectName("legend");
    setAccessibleName(tr("Legend of the patterns"));
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setWidgetResizable(true);
    auto* row = new QWidget;
    m_layout = new QHBoxLayout(row);
    m_layout->setContentsMargins(6, 0, 6, 0);
    m_layout->setSpacing(2);
    setWidget(row);
    viewport()->setAutoFillBackground(false);
    row->setAutoFillBackground(false);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void LegendBar::setEntries(const std::vector<LegendEntry>& entries, const Theme& theme) {
    m_entries = entries;
    m_theme = &theme;
    rebuild();
}

void LegendBar::setHiddenSlots(std::set<std::int32_t> slots) {
    if (slots == m_hidden)
        return;
    m_hidden = std::move(slots);
    for (QToolButton* button : findChildren<QToolButton*>())
        button->setChecked(!m_hidden.contains(button->property("slot").toInt()));
    Q_EMIT hiddenChanged();
}

void LegendBar::showOnly(std::int32_t slot) {
    std::set<std::int32_t> others;
    for (const LegendEntry& entry : m_entries)
        if (entry.slot != slot)
            others.insert(entry.slot);
    setHiddenSlots(others == m_hidden ? std::set<std::int32_t>() : others);
}

void LegendBar::rebuild() {
    while (QLayoutItem* item = m_layout->takeAt(0)) {
        if (item->widget()) {
            item->widget()->hide();
            item->widget()->setParent(nullptr);
            item->widget()->deleteLater();
        }
        delete item;
    }
    if (m_entries.empty()) {
        auto* none = new QLabel(tr("No known pattern occurs in this part."), widget());
        none->setEnabled(false);
        m_layout->addWidget(none);
    }
    for (const LegendEntry& entry : m_entries) {
        auto* button = new QToolButton(widget());
        const QString pattern = QString::fromStdString(entry.pattern);
        button->setObjectName("legend-" + pattern);
        button->setProperty("slot", entry.slot);
        button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        button->setIcon(swatch(m_theme->slot(entry.slot), m_theme->mutedText, devicePixelRatioF()));
        button->setIconSize({kSwatch, kSwatch});
        button->setProperty("counts", countsText(entry));
        button->setToolTip(tipText(entry));
        button->setAccessibleName(pattern);
        button->setAccessibleDescription(tipText(entry));
        button->setAutoRaise(true);
        button->setCheckable(true);
        button->setChecked(!m_hidden.contains(entry.slot));
        button->installEventFilter(this);
        connect(button, &QToolButton::toggled, this, [this, slot = entry.slot](bool on) {
            if (on == !m_hidden.contains(slot))
                return;
            on ? void(m_hidden.erase(slot)) : void(m_hidden.insert(slot));
            Q_EMIT hiddenChanged();
        });
        m_layout->addWidget(button);
    }
    m_layout->addStretch();
    fit();
}

/// Where the row is too long, the counts are left to the tips.
void LegendBar::fit() {
    const auto buttons = widget()->findChildren<QToolButton*>(QString(), Qt::FindDirectChildrenOnly);
    const auto write = [&](bool withCounts) {
        for (QToolButton* button : buttons)
            button->setText(withCounts
                                ? button->accessibleName() + "  " + button->property("counts").toString()
                                : button->accessibleName());
    };
    write(true);
    int needed = m_layout->contentsMargins().left() + m_layout->contentsMargins().right();
    for (const QToolButton* button : buttons)
        needed += button->sizeHint().width() + m_layout->spacing();
    if (needed > viewport()->width())
        write(false);
}

void LegendBar::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    fit();
}

bool LegendBar::eventFilter(QObject* watched, QEvent* event) {
    const bool click = event->type() == QEvent::MouseButtonPress &&
                       static_cast<QMouseEvent*>(event)->modifiers() & Qt::ShiftModifier;
    const bool key = event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->key() == Qt::Key_S;
    if (!click && !key)
        return QScrollArea::eventFilter(watched, event);
    showOnly(watched->property("slot").toInt());
    return true;
}

QSize LegendBar::sizeHint() const {
    return {400, fontMetrics().height() + 14};
}

QSize LegendBar::minimumSizeHint() const {
    return {100, fontMetrics().height() + 14};
}

} // namespace workbench::gui
