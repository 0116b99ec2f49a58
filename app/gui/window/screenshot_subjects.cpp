#include "app/gui/canvas/overlays.h"
#include "app/gui/canvas/search_bar.h"
#include "app/gui/window/consent_dialog.h"
#include "app/gui/window/help_dialogs.h"
#include "app/gui/window/recent_models.h"
#include "app/gui/window/screenshots.h"
#include "app/gui/window/setup_dialog.h"

#include <QtGui/QAction>
#include <QtWidgets/QCheckBox>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QLabel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QProgressBar>
#include <QtWidgets/QSpinBox>

/// What is pictured.

namespace workbench::gui {
namespace {

OpenRequest requestOf(const QString& model) {
    OpenRequest request;
    request.model = model;
    return request;
}

OwnCode someCode() {
    OwnCode code;
    code.directory = "/models/somebody/their-model";
    code.classes = {"modeling_theirs.TheirForCausalLM", "configuration_theirs.TheirConfig"};
    code.files = {"modeling_theirs.py", "configuration_theirs.py"};
    return code;
}

} // namespace

/// As a user would do it.
void Screenshots::act(const char* action) {
    find<QAction>(action)->trigger();
}

/// The window with a panel in front, and nothing left of the picture before.
QWidget* Screenshots::front(const QString& id) {
    find<SearchBar>("searchBar")->close();
    find<QComboBox>("overlayChoice")->setCurrentIndex(0);
    m_tab->workspace()->resetLayout();
    m_tab->workspace()->showPanel(id);
    return &m_window;
}

/// The window's own model: each panel in front, and the graph as it is seen first, then at a site.
void Screenshots::addPanels() {
    m_subjects.push_back({"first", [this] {
                              m_tab->selection().selectModule("");
                              m_tab->selection().reveal();
                              return front("canvas");
                          }});
    for (const QString& id : m_tab->workspace()->ids())
        m_subjects.push_back({id, [this, id] {
                                  QWidget* shown = front(id);
                                  choose("add-rms-norm");
                                  return shown;
                              }});
    m_subjects.push_back({"site", [this] {
                              QWidget* shown = front("canvas");
                              choose("qkv");
                              return shown;
                          }});
}

void Screenshots::addSearch() {
    const auto show = [this] {
        QWidget* shown = front("canvas");
        act("find");
        find<QLineEdit>("searchText")->setText("rms-norm");
        return shown;
    };
    m_subjects.push_back(
        {"search", show, true, [this] { return !find<QLabel>("searchCount")->text().isEmpty(); }});
}

void Screenshots::addOverlays() {
    for (const OverlayChoice& choice : overlayChoices())
        m_subjects.push_back({QString("overlay-%1").arg(choice.id), [this, id = QString(choice.id)] {
                                  QWidget* shown = front("canvas");
                                  auto* choices = find<QComboBox>("overlayChoice");
                                  choices->setCurrentIndex(choices->findData(id));
                                  return shown;
                              }});
}

/// It runs on from picture to picture; whoever ends the pictures ends it.
void Screenshots::addRunningMeasurement() {
    const auto show = [this] {
        QWidget* shown = front("measure");
        if (!m_tab->document().busy()) {
            find<QCheckBox>("leaveOneOut")->setChecked(false);
            find<QSpinBox>("rounds")->setValue(1000);
            act("startMeasuring");
        }
        return shown;
    };
    const auto isReady = [this] {
        const int programRounds = find<QProgressBar>("measureProgress")->value();
        return programRounds >= 12 || !m_tab->document().busy(); // some of it is to be seen, or it failed
    };
    m_subjects.push_back({"measuring", show, true, isReady});
}

/// Windows of their own: the start page, and a model that is not there.
void Screenshots::addPages() {
    for (const char* model : {"/models/Qwen/Qwen3-235B-A22B", "/models/HuggingFaceTB/SmolLM2-135M-Instruct"})
        rememberModel(model);
    m_empty = std::make_unique<MainWindow>(m_locations, m_appearance);
    m_failed = std::make_unique<MainWindow>(m_locations, m_appearance);
    m_failed->openModel(requestOf("/models/somebody/moved-away.pt2"));
    for (const auto& [name, window] : {std::pair{"start", m_empty.get()}, {"error", m_failed.get()}})
        m_subjects.push_back({name, [window = window] {
                                  window->show();
                                  return window;
                              }});
}

void Screenshots::addDialogs() {
    const auto dialog = [this](const QString& name, std::function<QWidget*()> make) {
        m_subjects.push_back({name,
                              [this, make = std::move(make)] {
                                  m_dialog.reset(make());
                                  m_dialog->setAttribute(Qt::WA_DeleteOnClose, false);
                                  m_dialog->show();
                                  return m_dialog.get();
                              },
                              false});
    };
    dialog("about",
           [this] { return makeAboutDialog(nullptr, m_tab->document().session().model().facts.versions); });
    dialog("shortcuts", [this] { return makeShortcutsDialog(m_window, nullptr); });
    dialog("tour", [] { return new TourDialog(nullptr); });
    dialog("setup", [this] { return new SetupDialog(m_locations, nullptr); });
    dialog("consent", [] { return new ConsentDialog(someCode(), nullptr); });
}

} // namespace workbench::gui
