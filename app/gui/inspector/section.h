#pragma once

#include <QtWidgets/QToolButton>
#include <QtWidgets/QVBoxLayout>
#include <QtWidgets/QWidget>

namespace workbench::gui {

/// A titled part of the inspector that can be folded.
class Section : public QWidget {
    Q_OBJECT
public:
    Section(const QString& title, const QString& name, QWidget* parent);
    void add(QWidget* widget) { m_body->layout()->addWidget(widget); }
    void setOpen(bool open);
    bool isOpen() const { return m_head->isChecked(); }

Q_SIGNALS:
    void toggled(bool open);

private:
    QToolButton* m_head;
    QWidget* m_body;
};

} // namespace workbench::gui
