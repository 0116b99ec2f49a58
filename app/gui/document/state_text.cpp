#include "app/gui/document/state_text.h"

#include <QtCore/QCoreApplication>

namespace workbench::gui {

QString stateText(SiteOutcome::State state) {
    using State = SiteOutcome::State;
    switch (state) {
    case State::applied:
        return QCoreApplication::translate("SiteState", "applied");
    case State::rejected:
        return QCoreApplication::translate("SiteState", "rejected");
    case State::undecided:
        return QCoreApplication::translate("SiteState", "applicable");
    case State::contained:
        return QCoreApplication::translate("SiteState", "contained");
    case State::conflicts:
        return QCoreApplication::translate("SiteState", "conflicts");
    case State::present:
        return QCoreApplication::translate("SiteState", "present");
    case State::refused:
        return QCoreApplication::translate("SiteState", "refused");
    }
    return {};
}

} // namespace workbench::gui
