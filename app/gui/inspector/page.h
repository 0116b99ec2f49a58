#pragma once

#include "app/gui/document/selection.h"
#include "app/gui/inspector/evidence.h"
#include "app/gui/inspector/section.h"

#include <QtWidgets/QVBoxLayout>
#include <QtWidgets/QWidget>

#include <functional>

namespace workbench::gui {

class TextBlock;

/// What the pages of the inspector are made with.
struct PageContext {
    Document& document;
    Evidence& evidence;
    std::function<void(const QString& target)> follow; ///< a link: "node:12", "module:...", "site:3", ...
    std::function<bool(const QString& section)> isOpen;
    std::function<void(const QString& section, bool open)> setOpen;
};

/// One kind of thing shown from top to bottom. Made anew whenever what it shows changes.
class Page : public QWidget {
    Q_OBJECT
public:
    Page(const PageContext& context, QWidget* parent);

protected:
    const PageContext& context() const { return m_context; }
    Document& document() const { return m_context.document; }
    const Graph& graph() const { return m_context.document.graph(); }
    const Analysis& analysis() const { return m_context.document.analysis(); }
    Evidence& evidence() const { return m_context.evidence; }

    void addTitle(const QString& title, const QString& subtitle);
    void add(QWidget* widget) { m_layout->addWidget(widget); }
    TextBlock* addText(const QString& html, QWidget* section = nullptr);
    /// Remembers whether it is open, by its name.
    Section* addSection(const QString& title, const QString& name);
    TextBlock* text(const QString& html);
    void finish() { m_layout->addStretch(1); }

    /// "bf16[1, T, 576]"
    QString type(const TensorMeta& meta) const;
    /// Measured time of a step that these nodes take together; nothing where it was not measured.
    void addTimes(const std::function<bool(NodeId)>& counts);
    /// Statistics and histogram of a parameter, read when the section is open.
    void addWeight(Section* section, const Input& input);
    /// The source lines with the node's line marked.
    void addSource(NodeId node);
    /// Before and after of the forward that the module runs; `site`: of the class that it rewrites.
    void addForward(const std::string& module, const std::string& site);

private:
    void offerForms(Section* section);
    void addForm(Section* section, const SourceForms& forms, const std::string& module,
                 const std::string& site);

    const PageContext m_context;
    QVBoxLayout* m_layout;
};

} // namespace workbench::gui
