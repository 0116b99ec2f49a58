#pragma once

#include <QtCore/QObject>
#include <QtCore/QPointer>

#include <functional>

class QWidget;

namespace workbench {
struct Error;
}

namespace workbench::gui {

class ModelTab;

/// Plans and exports: dialogs, questions and what came of it, on top of what the document does in threads.
class PlanActions : public QObject {
    Q_OBJECT
public:
    explicit PlanActions(QWidget& window);

    void chooseAndOpen(ModelTab* tab);
    void open(ModelTab* tab, const QString& file);
    using Saved = std::function<void(bool saved)>;
    /// Under its own name; asks for one where there is none, and when somebody else changed the file.
    void save(ModelTab* tab, Saved after = {});
    void saveAs(ModelTab* tab, Saved after = {});

    enum class Format { source, archive, inspection, logits };
    void chooseAndExport(ModelTab* tab, Format format);
    void exportTo(ModelTab* tab, Format format, const QString& target); ///< a file, for source a folder

    void copyReport(ModelTab* tab); ///< of the chosen site, as Markdown

private:
    using Tab = QPointer<ModelTab>;
    void saveTo(const Tab& tab, const QString& file, bool replace, const Saved& after);
    void askAboutConflict(const Tab& tab, const QString& file, const Error& error, const Saved& after);
    void tellProblem(const Tab& tab, const Error& error);

    QWidget& m_window;
};

} // namespace workbench::gui
