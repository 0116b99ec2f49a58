#pragma once

#include <QtCore/QObject>

#ifdef WORKBENCH_DBUS
#include <QtDBus/QDBusVariant>
#endif

namespace workbench::gui {

/// Light or dark: as the system says, or as the user chose.
class Appearance : public QObject {
    Q_OBJECT
public:
    enum class Choice { system, light, dark };
    Q_ENUM(Choice)

    explicit Appearance(QObject* parent = nullptr); ///< takes the saved choice
    Choice choice() const { return m_choice; }
    void choose(Choice choice); ///< saved
    bool isDark() const { return m_dark; }
    /// For screenshots and tests: not saved.
    void show(bool dark);

Q_SIGNALS:
    void changed();

#ifdef WORKBENCH_DBUS
private Q_SLOTS:
    void portalSaid(const QString& space, const QString& key, const QDBusVariant& value);
#endif

private:
    void askSystem();
    void update();

    Choice m_choice = Choice::system;
    bool m_systemDark = false;
    bool m_dark = false;
};

} // namespace workbench::gui
