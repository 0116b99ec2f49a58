#pragma once

#include "app/gui/window/main_window.h"
#include "app/gui/window/workspace.h"

#include <QtCore/QSize>

#include <functional>
#include <vector>

namespace workbench::gui {

/// Pictures of what the user can see: each panel in front of a model in the middle of its work
/// ("overview-1280x800-light.png"), decided, proven and measured where it has weights; a search, overlays and
/// a measurement that runs; the pages around it (start, a model that cannot be opened), and the dialogs. Each
/// size of window, light and dark. Takes a minute or two; the event loop turns meanwhile.
class Screenshots : public QObject {
    Q_OBJECT
public:
    Screenshots(MainWindow& window, const Locations& locations, Appearance& appearance,
                const QString& folder);
    ~Screenshots() override;

    /// Of a model in a tab that is being opened. `done` gets what went wrong; nothing: all are there.
    void take(ModelTab* tab, std::function<void(std::optional<Error>)> done);
    const QStringList& written() const { return m_written; }

private:
    struct Subject {
        QString name;
        std::function<QWidget*()>
            show;             ///< what is pictured, as it should look; asked for again for each picture
        bool isWindow = true; ///< in each size; a dialog has its own
        std::function<bool()> isReady = {}; ///< to be pictured; none: when nothing has worked for a while
    };
    struct Shot {
        std::size_t subject;
        QSize size; ///< invalid: its own
        bool isDark = false;
    };

    void opened();
    void decideSomething();
    void proveAndMeasure(std::function<void()> then);
    void choose(const char* pattern);
    QWidget* front(const QString& id);
    void act(const char* action);
    template <class T>
    T* find(const char* name) const { ///< one that the panels have
        return m_tab->workspace()->findChild<T*>(name);
    }
    void addPanels();
    void addSearch();
    void addOverlays();
    void addRunningMeasurement();
    void addPages();
    void addDialogs();
    void addShots();
    void next();
    bool shoot(QWidget& widget, const QString& name);
    void settle(std::function<void()> then, std::function<bool()> isReady = {});
    void end(std::optional<Error> error);

    MainWindow& m_window;
    Locations m_locations;
    Appearance& m_appearance;
    QString m_folder;
    ModelTab* m_tab = nullptr;
    std::function<void(std::optional<Error>)> m_done;
    std::unique_ptr<MainWindow> m_empty,
        m_failed;                      ///< at their start page, and with a model that is not there
    std::unique_ptr<QWidget> m_dialog; ///< the one that is pictured
    std::vector<Subject> m_subjects;
    std::vector<Shot> m_shots;
    std::size_t m_at = 0;
    QStringList m_written;
};

} // namespace workbench::gui
