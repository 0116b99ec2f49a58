#include "app/gui/canvas/breadcrumbs.h"

#include "app/diagram/scope_modules.h"
#include "app/gui/document/qt_text.h"

#include <QtCore/QTimer>
#include <QtGui/QFontMetrics>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QScrollBar>
#include <QtWidgets/QToolButton>

namespace workbench::gui {

Breadcrumbs::Breadcrumbs(QWidget* parent)
    : QScrollArea(parent), m_row(new QWidget), m_layout(new QHBoxLayout(m_row)) {
    setObjectName("breadcrumbs");
    setAccessibleName(tr("Place in the model"));
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setWidgetResizable(true);
    viewport()->setAutoFillBackground(false);
    m_row->setAutoFillBackground(false);
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(0);
    setWidget(m_row);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void Breadcrumbs::setWay(const QString& root, const std::vector<std::string>& paths) {
    while (QLayoutItem* item = m_layout->takeAt(0)) {
        if (item->widget()) {
            item->widget()->hide();
            item->widget()->deleteLater(); // it may be the button whose click brought us here
        }
        delete item;
    }
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const std::string_view before = i == 0 ? std::string_view() : std::string_view(paths[i - 1]);
        const std::string_view name = relativePath(paths[i], before);
        addPart(i == 0 ? root : qt(name), QString::fromStdString(paths[i]), i + 1 == paths.size());
    }
    m_layout->addStretch();
    QTimer::singleShot(0, this, &Breadcrumbs::showEnd);
}

void Breadcrumbs::showEnd() {
    horizontalScrollBar()->setValue(horizontalScrollBar()->maximum());
}

void Breadcrumbs::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    showEnd();
}

void Breadcrumbs::addPart(const QString& text, const QString& path, bool last) {
    if (m_layout->count() > 0) {
        auto* arrow = new QLabel(QStringLiteral("›"), m_row);
        arrow->setEnabled(false);
        m_layout->addWidget(arrow);
    }
    auto* button = new QToolButton(m_row);
    button->setText(QString(text).replace('&', "&&")); // a name has no shortcut
    button->setAutoRaise(true);
    button->setProperty("path", path);
    button->setAccessibleName(last ? tr("%1, shown").arg(text) : tr("Go to %1").arg(text));
    if (last) {
        QFont font = button->font();
        font.setBold(true);
        button->setFont(font);
        button->setToolTip(path);
    } else {
        button->setToolTip(path.isEmpty() ? tr("The whole model") : path);
    }
    connect(button, &QToolButton::clicked, this, [this, path] { Q_EMIT scopeRequested(path); });
    m_layout->addWidget(button);
}

QSize Breadcrumbs::sizeHint() const {
    return {300, fontMetrics().height() + 12};
}

QSize Breadcrumbs::minimumSizeHint() const {
    return {80, fontMetrics().height() + 12};
}

} // namespace workbench::gui
