#pragma once

#include "app/gui/window/main_window.h"

#include <QtCore/QSize>

#include <functional>
#include <vector>

namespace workbench::gui {

/// Pictures of the window with each panel in front, in each size, light and dark:
/// "overview-1280x800-light.png". Takes a while; the event loop turns meanwhile.
class Screenshots : public QObject {
    Q_OBJECT
public:
    Screenshots(MainWindow& window, Appearance& appearance, const QString& folder);

    /// Of a model in a tab that is being opened. `done` gets what went wrong; nothing: all are there.
    void take(ModelTab* tab, std::function<void(std::optional<Error>)> done);
    const QStringList& written() const { return m_written; }

private:
    void opened();
    void decideSomething();
    void next();
    bool shoot(const QString& name);
    void settle(std::function<void()> then);
    void end(std::optional<Error> error);

    struct Shot {
        QString panel;
        QSize size;
        bool dark = false;
    };
    MainWindow& m_window;
    Appearance& m_appearance;
    QString m_folder;
    ModelTab* m_tab = nullptr;
    std::function<void(std::optional<Error>)> m_done;
    std::vector<Shot> m_shots;
    std::size_t m_at = 0;
    QStringList m_written;
};

} // namespace workbench::gui
