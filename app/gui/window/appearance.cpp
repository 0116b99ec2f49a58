#include "app/gui/window/appearance.h"

#include "app/gui/window/window_style.h"

#include <QtCore/QMetaEnum>
#include <QtCore/QSettings>
#include <QtGui/QPalette>
#include <QtWidgets/QApplication>
#include <QtWidgets/QStyle>
#include <QtWidgets/QToolTip>

#include <utility>

#ifdef WORKBENCH_DBUS
#include <QtDBus/QDBusConnection>
#include <QtDBus/QDBusMessage>
#include <QtDBus/QDBusPendingCallWatcher>
#include <QtDBus/QDBusPendingReply>
#include <QtDBus/QDBusVariant>
#endif

namespace workbench::gui {
namespace {

constexpr const char* kKey = "window/appearance";

struct Colours {
    QColor window, base, alternate, text, muted, button, border, accent, onAccent, link;
};

Colours coloursOf(bool dark) {
    if (dark)
        return {0x23272e, 0x1a1d22, 0x20242a, 0xe4e7eb, 0x9aa4b1,
                0x2e343d, 0x3d4550, 0x3874d0, 0xffffff, 0x79b0ff};
    return {0xf4f5f7, 0xffffff, 0xf7f8fa, 0x1d2229, 0x5c6773,
            0xfbfbfc, 0xc9ced6, 0x1f63c8, 0xffffff, 0x1553ad};
}

QPalette paletteOf(bool dark) {
    const Colours c = coloursOf(dark);
    QPalette palette(c.button, c.window);
    const std::pair<QPalette::ColorRole, QColor> roles[] = {
        {QPalette::WindowText, c.text},
        {QPalette::Text, c.text},
        {QPalette::ButtonText, c.text},
        {QPalette::Base, c.base},
        {QPalette::AlternateBase, c.alternate},
        {QPalette::Button, c.button},
        {QPalette::Mid, c.border},
        {QPalette::Highlight, c.accent},
        {QPalette::HighlightedText, c.onAccent},
        {QPalette::Link, c.link},
        {QPalette::LinkVisited, c.link},
        {QPalette::PlaceholderText, c.muted},
        {QPalette::ToolTipBase, dark ? c.button : c.base},
        {QPalette::ToolTipText, c.text},
    };
    for (const auto& [role, colour] : roles)
        palette.setColor(role, colour);
    for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, dark ? QColor(0x737d89) : QColor(0x939ba5));
    return palette;
}

} // namespace

Appearance::Appearance(QObject* parent) : QObject(parent) {
    // One style everywhere: the drawing, the palettes and the screenshots are made for it.
    QApplication::setStyle(new WindowStyle);
    bool known = false;
    const int saved = QMetaEnum::fromType<Choice>().keyToValue(
        QSettings().value(kKey).toString().toLatin1().constData(), &known);
    m_choice = known ? static_cast<Choice>(saved) : Choice::system;
    m_systemDark = QApplication::palette().color(QPalette::Window).lightness() < 128;
    askSystem();
    update();
}

void Appearance::choose(Choice choice) {
    m_choice = choice;
    QSettings().setValue(kKey, QMetaEnum::fromType<Choice>().valueToKey(static_cast<int>(choice)));
    update();
}

void Appearance::show(bool dark) {
    m_choice = dark ? Choice::dark : Choice::light;
    update();
}

void Appearance::update() {
    m_dark = m_choice == Choice::dark || (m_choice == Choice::system && m_systemDark);
    QApplication::setPalette(paletteOf(m_dark));
    QToolTip::setPalette(paletteOf(m_dark));
    Q_EMIT changed();
}

/// The desktop portal's answer (GNOME, KDE and others): 1 is dark. Without a portal the platform's palette
/// says it.
void Appearance::askSystem() {
#ifdef WORKBENCH_DBUS
    constexpr const char* service = "org.freedesktop.portal.Desktop";
    constexpr const char* path = "/org/freedesktop/portal/desktop";
    constexpr const char* interface = "org.freedesktop.portal.Settings";
    QDBusConnection bus = QDBusConnection::sessionBus();
    if (!bus.isConnected())
        return;
    bus.connect(service, path, interface, "SettingChanged", this,
                SLOT(portalSaid(QString, QString, QDBusVariant)));
    QDBusMessage question = QDBusMessage::createMethodCall(service, path, interface, "Read");
    question << QStringLiteral("org.freedesktop.appearance") << QStringLiteral("color-scheme");
    auto* answer = new QDBusPendingCallWatcher(bus.asyncCall(question), this);
    connect(answer, &QDBusPendingCallWatcher::finished, this, [this, answer] {
        answer->deleteLater();
        const QDBusPendingReply<QVariant> reply = *answer;
        if (!reply.isError())
            portalSaid("org.freedesktop.appearance", "color-scheme", QDBusVariant(reply.value()));
    });
#endif
}

#ifdef WORKBENCH_DBUS
void Appearance::portalSaid(const QString& space, const QString& key, const QDBusVariant& value) {
    if (space != "org.freedesktop.appearance" || key != "color-scheme")
        return;
    QVariant scheme = value.variant();
    while (scheme.canConvert<QDBusVariant>() && scheme.typeId() != QMetaType::UInt)
        scheme = scheme.value<QDBusVariant>().variant();
    m_systemDark = scheme.toUInt() == 1;
    update();
}
#endif

} // namespace workbench::gui
