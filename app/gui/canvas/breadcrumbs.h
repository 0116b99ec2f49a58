#pragma once

#include <QtWidgets/QScrollArea>

#include <string>
#include <vector>

class QHBoxLayout;

namespace workbench::gui {

/// The way from the model down to the module that is drawn: "LlamaForCausalLM › model › layers.0 › mlp".
/// Every part but the last one is a button that goes there. Too long a way is scrolled to its end.
class Breadcrumbs : public QScrollArea {
    Q_OBJECT
public:
    explicit Breadcrumbs(QWidget* parent = nullptr);

    /// `root` names the model; `paths` lead from it ("") to the scope: {"", "model", "model.layers.0"}.
    void setWay(const QString& root, const std::vector<std::string>& paths);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void scopeRequested(const QString& path);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void showEnd(); ///< where one is
    void addPart(const QString& text, const QString& path, bool last);

    QWidget* m_row;
    QHBoxLayout* m_layout;
};

} // namespace workbench::gui
