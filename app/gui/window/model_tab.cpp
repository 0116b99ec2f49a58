#include "app/gui/window/model_tab.h"

#include "app/gui/window/consent_dialog.h"
#include "app/gui/window/opening_page.h"
#include "app/gui/window/setup_dialog.h"
#include "app/gui/window/workspace.h"

#include <QtWidgets/QStackedWidget>
#include <QtWidgets/QVBoxLayout>

namespace workbench::gui {

ModelTab::ModelTab(const Locations& locations, QWidget* parent)
    : QWidget(parent), m_document(locations), m_notices(new NoticeStack(this)), m_pages(new QStackedWidget),
      m_opening(new OpeningPage), m_error(new ErrorPage) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_notices);
    column->addWidget(m_pages, 1);
    m_pages->addWidget(m_opening);
    m_pages->addWidget(m_error);
    connect(m_opening, &OpeningPage::cancelWanted, &m_document, &Document::cancel);
    connect(m_error, &ErrorPage::closeWanted, this, &ModelTab::closeWanted);
    connect(m_error, &ErrorPage::setupWanted, this, &ModelTab::offerSetup);
    connect(m_error, &ErrorPage::againWanted, this, [this] { m_document.open(m_document.request()); });
    watchDocument();
}

/// The panels refer to document and selection: they go first.
ModelTab::~ModelTab() {
    delete m_workspace;
}

void ModelTab::retire() {
    hide();
    setParent(nullptr);
    m_document.disconnect();
    if (m_document.shutDown())
        deleteLater();
    else
        connect(&m_document, &Document::ended, this, &QObject::deleteLater);
}

void ModelTab::watchDocument() {
    connect(&m_document, &Document::stateChanged, this, &ModelTab::stateChanged);
    connect(&m_document, &Document::progressed, this, [this](const QString& stage, const QString& detail) {
        if (m_document.state() == Document::State::opening)
            m_opening->showStage(stage, detail);
    });
    connect(&m_document, &Document::modifiedChanged, this, &ModelTab::titleChanged);
    connect(&m_document, &Document::planFileChanged, this, &ModelTab::titleChanged);
    connect(&m_document, &Document::modelReplaced, this, &ModelTab::tellReplaced);
    connect(&m_document, &Document::planReplaced, this, &ModelTab::tellPlanReplaced);
    connect(&m_document, &Document::failed, this, [this](const Error& error) {
        m_notices->tell(NoticeBar::Kind::problem, QString::fromStdString(error.message));
    });
    connect(&m_document, &Document::noticed, this,
            [this](const QString& sentence) { m_notices->tell(NoticeBar::Kind::note, sentence); });
}

QString ModelTab::title() const {
    return m_document.title() + (m_document.modified() ? QStringLiteral(" *") : QString());
}

void ModelTab::stateChanged() {
    if (m_workspace) {
        m_workspace->hide();
        delete std::exchange(m_workspace, nullptr);
        m_selection.clear();
        m_notices->clear();
        Q_EMIT workspaceChanged();
    }
    switch (m_document.state()) {
    case Document::State::empty:
        break;
    case Document::State::opening:
        m_opening->begin(m_document.title());
        m_pages->setCurrentWidget(m_opening);
        break;
    case Document::State::failed:
        showFailure();
        break;
    case Document::State::ready:
        m_workspace = new Workspace(m_document, m_selection, panels(), this);
        m_pages->addWidget(m_workspace);
        m_pages->setCurrentWidget(m_workspace);
        for (const std::string& warning : m_document.session().model().facts.warnings)
            m_notices->tell(NoticeBar::Kind::warning, QString::fromStdString(warning));
        Q_EMIT workspaceChanged();
        break;
    }
    Q_EMIT titleChanged();
}

void ModelTab::showFailure() {
    const Error& error = *m_document.error();
    const bool lacksPython = error.code == ErrorCode::cannotTrace && !findPython(m_document.locations());
    m_error->showError(m_document.title(), error, lacksPython);
    m_pages->setCurrentWidget(m_error);
    const std::filesystem::path untrusted = untrustedDirectory(error);
    if (untrusted.empty() || m_document.request().trace.trustRemoteCode)
        return;
    auto* dialog = new ConsentDialog(ownCodeOf(untrusted), this);
    connect(dialog, &ConsentDialog::consented, this, [this] {
        OpenRequest trusted = m_document.request();
        trusted.trace.trustRemoteCode = true;
        m_document.open(trusted);
    });
    dialog->open();
}

/// The model is opened as soon as the environment is there.
void ModelTab::offerSetup() {
    auto* dialog = new SetupDialog(m_document.locations(), this);
    connect(dialog, &SetupDialog::completed, this, [this] {
        if (m_document.state() == Document::State::failed)
            m_document.open(m_document.request());
    });
    dialog->open();
}

void ModelTab::tellReplaced() {
    m_notices->tell(NoticeBar::Kind::warning,
                    tr("The model's files were changed on disk since it was opened. What you see is the "
                       "model as it was."),
                    {{tr("Open it again"), [this] { m_document.openAgain(); }}});
}

void ModelTab::tellPlanReplaced() {
    const QString file = m_document.planFile();
    m_notices->tell(
        NoticeBar::Kind::warning,
        tr("The plan %1 was changed by somebody else since it was opened or saved here.").arg(file),
        {{tr("Take theirs"), [this, file] {
              m_document.openPlan(file, [this](const Status& done) {
                  if (!done)
                      m_notices->tell(NoticeBar::Kind::problem, QString::fromStdString(done.error().message));
              });
          }}});
}

} // namespace workbench::gui
