#include "app/gui/inspector/section.h"

namespace workbench::gui {

Section::Section(const QString& title, const QString& name, QWidget* parent)
    : QWidget(parent), m_head(new QToolButton(this)), m_body(new QWidget(this)) {
    setObjectName(name);
    m_head->setText(title);
    m_head->setAccessibleName(title);
    m_head->setCheckable(true);
    m_head->setChecked(true);
    m_head->setAutoRaise(true);
    m_head->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_head->setArrowType(Qt::DownArrow);
    m_head->setFocusPolicy(Qt::TabFocus);
    m_head->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed); // a press anywhere in the line
    QFont bold = m_head->font();
    bold.setBold(true);
    m_head->setFont(bold);
    auto* body = new QVBoxLayout(m_body);
    body->setContentsMargins(18, 0, 0, 4);
    body->setSpacing(6);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    layout->addWidget(m_head);
    layout->addWidget(m_body);
    connect(m_head, &QToolButton::toggled, this, [this](bool open) {
        m_head->setArrowType(open ? Qt::DownArrow : Qt::RightArrow);
        m_body->setVisible(open);
        Q_EMIT toggled(open);
    });
}

void Section::setOpen(bool open) {
    m_head->setChecked(open);
}

} // namespace workbench::gui
