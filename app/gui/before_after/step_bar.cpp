#include "app/gui/before_after/step_bar.h"

#include "app/gui/document/elided_label.h"

#include <QtCore/QLocale>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QToolButton>

#include <algorithm>

namespace workbench::gui {

StepBar::StepBar(QWidget* parent)
    : QWidget(parent), m_pattern(new QComboBox(this)), m_previous(new QToolButton(this)),
      m_next(new QToolButton(this)), m_place(new QLabel(this)),
      m_what(new ElidedLabel(Qt::ElideMiddle, this)) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(6, 3, 6, 3);
    row->setSpacing(6);
    m_pattern->setObjectName("stepPattern");
    m_pattern->setAccessibleName(tr("Rewrites to step through"));
    m_pattern->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    const auto prepare = [](QToolButton* button, const char* name, const QString& text, const QString& tip) {
        button->setObjectName(name);
        button->setText(text);
        button->setToolTip(tip);
        button->setAccessibleName(tip);
        button->setAutoRaise(true);
    };
    prepare(m_previous, "stepPrevious", QStringLiteral("◀"), tr("Previous rewrite (Left)"));
    prepare(m_next, "stepNext", QStringLiteral("▶"), tr("Next rewrite (Right)"));
    m_place->setObjectName("stepPlace");
    m_place->setMinimumWidth(m_place->fontMetrics().horizontalAdvance("0,000 of 0,000"));
    m_place->setAlignment(Qt::AlignCenter);
    m_what->setObjectName("stepWhat");
    for (QWidget* each : std::initializer_list<QWidget*>{m_pattern, m_previous, m_place, m_next})
        row->addWidget(each);
    row->addWidget(m_what, 1);
    connect(m_previous, &QToolButton::clicked, this, [this] { Q_EMIT stepRequested(-1); });
    connect(m_next, &QToolButton::clicked, this, [this] { Q_EMIT stepRequested(1); });
    connect(m_pattern, &QComboBox::currentIndexChanged, this, &StepBar::patternChanged);
    setPatterns({});
}

void StepBar::setPatterns(const QStringList& patterns) {
    const QString chosen = pattern();
    const QSignalBlocker silent(m_pattern);
    m_pattern->clear();
    m_pattern->addItem(tr("All rewrites"), QString());
    for (const QString& each : patterns)
        m_pattern->addItem(each, each);
    m_pattern->setCurrentIndex(std::max(0, m_pattern->findData(chosen)));
}

QString StepBar::pattern() const {
    return m_pattern->currentData().toString();
}

void StepBar::setPlace(int at, int total, const QString& what) {
    const QLocale locale;
    m_place->setText(at < 0 ? tr("%1 in all").arg(locale.toString(total))
                            : tr("%1 of %2").arg(locale.toString(at + 1), locale.toString(total)));
    m_what->say(what);
    m_previous->setEnabled(total > 0);
    m_next->setEnabled(total > 0);
}

} // namespace workbench::gui
