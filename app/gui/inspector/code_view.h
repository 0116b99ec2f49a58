#pragma once

#include "app/session/source_view.h"

#include <QtWidgets/QPlainTextEdit>

namespace workbench::gui {

/// Source text, read only, with line numbers; one line can be marked, or the text is a unified diff whose
/// lines have colours. A fixed number of lines high.
class CodeView : public QPlainTextEdit {
    Q_OBJECT
public:
    explicit CodeView(QWidget* parent);

    void showSource(const SourceView& source);
    void showDiff(const QString& diff);
    /// Number of the marked line; 0: none.
    int markedLine() const { return m_marked; }

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    class Numbers;
    void setVisibleLines(int lines);
    void paintNumbers(QPaintEvent* event);
    void placeNumbers();
    void mark();
    int numbersWidth() const;

    QWidget* m_numbers;
    int m_firstLine = 1;
    int m_marked = 0;
    bool m_isDiff = false;
};

} // namespace workbench::gui
