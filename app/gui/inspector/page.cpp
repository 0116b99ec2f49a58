#include "app/gui/inspector/page.h"

#include "app/gui/inspector/markup.h"
#include "app/gui/inspector/text_block.h"

#include <QtWidgets/QLabel>

namespace workbench::gui {

Page::Page(const PageContext& context, QWidget* parent)
    : QWidget(parent), m_context(context), m_layout(new QVBoxLayout(this)) {
    m_layout->setContentsMargins(12, 10, 12, 12);
    m_layout->setSpacing(8);
}

void Page::addTitle(const QString& title, const QString& subtitle) {
    auto* head = new TextBlock(this);
    head->setObjectName("title");
    head->setAccessibleName(title);
    connect(head, &QTextBrowser::anchorClicked, this,
            [this](const QUrl& url) { m_context.follow(url.toString()); });
    head->setMarkup(QString("<p style=\"font-size: large; font-weight: 600; margin: 0\">%1</p>"
                            "<p style=\"margin: 0\">%2</p>")
                        .arg(title, subtitle));
    m_layout->addWidget(head);
}

TextBlock* Page::text(const QString& html) {
    auto* block = new TextBlock(this);
    block->setMarkup(html);
    connect(block, &QTextBrowser::anchorClicked, this,
            [this](const QUrl& url) { m_context.follow(url.toString()); });
    return block;
}

TextBlock* Page::addText(const QString& html, QWidget* section) {
    TextBlock* block = text(html);
    if (auto* within = qobject_cast<Section*>(section))
        within->add(block);
    else
        m_layout->addWidget(block);
    return block;
}

Section* Page::addSection(const QString& title, const QString& name) {
    auto* section = new Section(title, name, this);
    section->setOpen(m_context.isOpen(name));
    connect(section, &Section::toggled, this, [this, name](bool open) { m_context.setOpen(name, open); });
    m_layout->addWidget(section);
    return section;
}

QString Page::type(const TensorMeta& meta) const {
    return qt(m_context.evidence.names().text(meta)).toHtmlEscaped();
}

} // namespace workbench::gui
