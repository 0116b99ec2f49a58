#include "app/gui/canvas/search_bar.h"

#include <QtCore/QLocale>
#include <QtCore/QTimer>
#include <QtGui/QKeyEvent>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QToolButton>

namespace workbench::gui {

constexpr int kRestMs = 80; // between keystrokes of a fast typist nothing is searched

SearchBar::SearchBar(QWidget* parent)
    : QWidget(parent), m_edit(new QLineEdit(this)), m_count(new QLabel(this)), m_rest(new QTimer(this)) {
    setObjectName("searchBar");
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(6, 3, 6, 3);
    row->setSpacing(4);
    m_edit->setObjectName("searchText");
    m_edit->setPlaceholderText(tr("Find a name, operator, dtype, shape, module or pattern"));
    m_edit->setAccessibleName(tr("Text to find"));
    m_edit->setClearButtonEnabled(true);
    m_edit->installEventFilter(this);
    m_count->setObjectName("searchCount");
    m_count->setMinimumWidth(m_count->fontMetrics().horizontalAdvance("0,000 of 0,000"));
    row->addWidget(m_edit, 1);
    row->addWidget(m_count);
    m_previous = addButton("searchPrevious", QStringLiteral("▲"), tr("Previous (Shift+F3)"));
    m_next = addButton("searchNext", QStringLiteral("▼"), tr("Next (F3)"));
    QToolButton* shut = addButton("searchClose", QStringLiteral("✕"), tr("Close (Esc)"));
    connect(m_previous, &QToolButton::clicked, this, &SearchBar::previousRequested);
    connect(m_next, &QToolButton::clicked, this, &SearchBar::nextRequested);
    connect(shut, &QToolButton::clicked, this, &SearchBar::close);
    m_rest->setSingleShot(true);
    m_rest->setInterval(kRestMs);
    connect(m_rest, &QTimer::timeout, this, [this] { Q_EMIT searchRequested(m_edit->text()); });
    connect(m_edit, &QLineEdit::textChanged, m_rest, qOverload<>(&QTimer::start));
    setFocusProxy(m_edit);
    setHits(-1, 0, false);
    hide();
}

QToolButton* SearchBar::addButton(const QString& name, const QString& text, const QString& tip) {
    auto* button = new QToolButton(this);
    button->setObjectName(name);
    button->setText(text);
    button->setToolTip(tip);
    button->setAccessibleName(tip);
    button->setAutoRaise(true);
    layout()->addWidget(button);
    return button;
}

QString SearchBar::text() const {
    return m_edit->text();
}

void SearchBar::open() {
    show();
    m_edit->setFocus(Qt::ShortcutFocusReason);
    m_edit->selectAll();
    if (!m_edit->text().isEmpty())
        Q_EMIT searchRequested(m_edit->text());
}

void SearchBar::close() {
    hide();
    Q_EMIT closed();
}

/// Who types and goes on at once means the text as it stands.
void SearchBar::searchNow() {
    if (!m_rest->isActive())
        return;
    m_rest->stop();
    Q_EMIT searchRequested(m_edit->text());
}

void SearchBar::setHits(int at, int total, bool more) {
    const QLocale locale;
    const QString all = locale.toString(total) + (more ? "+" : "");
    if (m_edit->text().trimmed().isEmpty())
        m_count->clear();
    else if (total == 0)
        m_count->setText(tr("not found"));
    else
        m_count->setText(at < 0 ? tr("%1 hits").arg(all) : tr("%1 of %2").arg(locale.toString(at + 1), all));
    m_count->setAccessibleName(m_count->text());
    m_previous->setEnabled(total > 0);
    m_next->setEnabled(total > 0);
}

void SearchBar::setFault(const QString& words) {
    m_count->setText(words);
    m_count->setAccessibleName(words);
}

bool SearchBar::eventFilter(QObject* watched, QEvent* event) {
    if (watched != m_edit || event->type() != QEvent::KeyPress)
        return QWidget::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    switch (key->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Down:
        searchNow();
        Q_EMIT(key->modifiers() & Qt::ShiftModifier) ? previousRequested() : nextRequested();
        return true;
    case Qt::Key_Up:
        Q_EMIT previousRequested();
        return true;
    case Qt::Key_Escape:
        close();
        return true;
    default:
        return QWidget::eventFilter(watched, event);
    }
}

} // namespace workbench::gui
