#include "app/gui/window/notice_bar.h"

#include <QtCore/QEvent>
#include <QtGui/QAccessible>
#include <QtWidgets/QApplication>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QStyle>
#include <QtWidgets/QToolButton>

namespace workbench::gui {
namespace {

QColor tint(NoticeBar::Kind kind, bool dark) {
    switch (kind) {
    case NoticeBar::Kind::note:
        return dark ? 0x243447 : 0xe3eefc;
    case NoticeBar::Kind::warning:
        return dark ? 0x463a1c : 0xfdf1cf;
    case NoticeBar::Kind::problem:
        return dark ? 0x4d2a2c : 0xfde4e3;
    }
    return {};
}

} // namespace

NoticeBar::NoticeBar(Kind kind, const QString& sentence, const std::vector<Choice>& choices, QWidget* parent)
    : QFrame(parent), m_kind(kind), m_text(new QLabel(sentence)) {
    setObjectName("notice");
    setAccessibleName(sentence);
    setAutoFillBackground(true);
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_text->setTextFormat(Qt::PlainText);
    auto* line = new QHBoxLayout(this);
    line->setContentsMargins(12, 6, 8, 6);
    line->addWidget(m_text, 1);
    for (const Choice& choice : choices) {
        auto* button = new QPushButton(choice.text);
        button->setAccessibleName(choice.text);
        connect(button, &QPushButton::clicked, this, [this, act = choice.act] {
            hide();
            deleteLater();
            act();
        });
        line->addWidget(button);
    }
    auto* close = new QToolButton;
    close->setText(QStringLiteral("✕"));
    close->setAutoRaise(true);
    close->setToolTip(tr("Close this message"));
    close->setAccessibleName(tr("Close this message"));
    connect(close, &QToolButton::clicked, this, &QObject::deleteLater);
    line->addWidget(close);
    paintIt();
}

QString NoticeBar::sentence() const {
    return m_text->text();
}

void NoticeBar::changeEvent(QEvent* event) {
    QFrame::changeEvent(event);
    if (event->type() == QEvent::ApplicationPaletteChange)
        paintIt();
}

void NoticeBar::paintIt() {
    QPalette colours = QApplication::palette();
    colours.setColor(QPalette::Window, tint(m_kind, colours.color(QPalette::Window).lightness() < 128));
    setPalette(colours);
}

NoticeStack::NoticeStack(QWidget* parent) : QWidget(parent), m_bars(new QVBoxLayout(this)) {
    m_bars->setContentsMargins(0, 0, 0, 0);
    m_bars->setSpacing(1);
}

void NoticeStack::tell(NoticeBar::Kind kind, const QString& sentence,
                       const std::vector<NoticeBar::Choice>& choices) {
    for (NoticeBar* bar : findChildren<NoticeBar*>())
        if (bar->sentence() == sentence && bar->isVisibleTo(this))
            return;
    auto* bar = new NoticeBar(kind, sentence, choices, this);
    m_bars->addWidget(bar);
    QAccessibleEvent spoken(bar, QAccessible::Alert);
    QAccessible::updateAccessibility(&spoken);
}

void NoticeStack::clear() {
    for (NoticeBar* bar : findChildren<NoticeBar*>())
        delete bar;
}

} // namespace workbench::gui
