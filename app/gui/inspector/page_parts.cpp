#include "app/gui/inspector/code_view.h"
#include "app/gui/inspector/histogram.h"
#include "app/gui/inspector/markup.h"
#include "app/gui/inspector/page.h"
#include "app/gui/inspector/text_block.h"
#include "app/session/source_view.h"

#include <QtCore/QFileInfo>
#include <QtWidgets/QPushButton>

#include <algorithm>

/// Parts that several pages have: a weight's numbers, the source, the rewritten forward.

namespace workbench::gui {
namespace {

QString summary(const WeightStatistics& s) {
    QString text = Page::tr("mean %1, deviation %2, %L3 numbers in %4")
                       .arg(shortNumber(s.mean), shortNumber(s.deviation))
                       .arg(s.count)
                       .arg(qt(name(s.stored)));
    if (s.zeros > 0)
        text += ", " + Page::tr("%L1 zeros").arg(s.zeros);
    if (s.notFinite > 0)
        text += ", <b>" + Page::tr("%L1 infinite or NaN").arg(s.notFinite) + "</b>";
    return text;
}

/// The form that a site or, without one, a module has.
const SourceForm* formFor(const SourceForms& forms, const std::string& module, const std::string& site) {
    if (!site.empty()) {
        const auto found = forms.formOfSite.find(site);
        return found == forms.formOfSite.end() ? nullptr : &forms.classes[found->second];
    }
    for (const SourceForm& form : forms.classes)
        if (std::find(form.instances.begin(), form.instances.end(), module) != form.instances.end())
            return &form;
    return nullptr;
}

} // namespace

void Page::addTimes(const std::function<bool(NodeId)>& counts) {
    const NodeTimes* times = document().nodeTimes();
    if (!times)
        return;
    double before = 0, after = 0;
    const auto add = [](double& sum, const NodeTimes::ByName& of, const std::string& name) {
        if (const auto found = of.find(name); found != of.end())
            sum += found->second;
    };
    for (NodeId node = 0; node < static_cast<NodeId>(graph().nodes.size()); ++node)
        if (const auto& outputs = graph().node(node).outputs; !outputs.empty() && counts(node)) {
            add(before, times->before, graph().value(outputs.front()).name);
            add(after, times->after, graph().value(outputs.front()).name);
        }
    if (document().timesAfterHold() && (before > 0 || after > 0))
        addText(tr("measured: %L1 ms of a step before the rewrites, %L2 ms after")
                    .arg(before, 0, 'f', 3)
                    .arg(after, 0, 'f', 3));
    else if (before > 0)
        addText(tr("measured: %L1 ms of a step before the rewrites").arg(before, 0, 'f', 3));
}

void Page::addWeight(Section* section, const Input& input) {
    const QString name = qt(input.target);
    section->add(
        text(QString("<b>%1</b> %2").arg(name.toHtmlEscaped(), type(graph().value(input.value).meta))));
    if (!section->isOpen())
        return;
    const Result<WeightStatistics>* statistics = evidence().statistics(input.target);
    if (!statistics) {
        section->add(text(muted(tr("reading the numbers ..."))));
        return;
    }
    if (!*statistics) {
        section->add(text(muted(escaped(statistics->error().message))));
        return;
    }
    section->add(text(summary(**statistics)));
    section->add(new Histogram(**statistics, name, this));
}

void Page::addSource(NodeId node) {
    Section* section = addSection(tr("Source"), "source");
    const SourceFrame* frame = graph().sourceFrame(node);
    if (!frame) {
        section->add(text(muted(tr("The trace recorded no source line for this node."))));
        return;
    }
    const SourceView source = sourceView(document().session().model(), *frame);
    section->add(text(tr("%1, line %2, in %3")
                          .arg("<b>" + QFileInfo(qt(source.file)).fileName().toHtmlEscaped() + "</b>")
                          .arg(source.line)
                          .arg(escaped(source.function))));
    if (!source.notShown.empty())
        section->add(text(muted(escaped(source.notShown))));
    if (source.lines.empty())
        return;
    auto* code = new CodeView(this);
    code->setObjectName("code");
    code->setAccessibleName(
        tr("Source of %1, line %2").arg(QFileInfo(qt(source.file)).fileName()).arg(source.line));
    code->setToolTip(qt(source.file));
    code->showSource(source);
    section->add(code);
}

void Page::addForward(const std::string& module, const std::string& site) {
    if (document().session().model().directory.empty())
        return;
    Section* section = addSection(tr("Forward, before and after"), "forward");
    const Result<SourceForms>* forms = evidence().forms();
    if (!forms)
        offerForms(section);
    else if (*forms)
        addForm(section, **forms, module, site);
    else
        section->add(text(escaped(forms->error().message)));
}

void Page::offerForms(Section* section) {
    const bool making = evidence().isMakingForms();
    auto* button = new QPushButton(making ? tr("Stop") : tr("Write the rewritten forward"), this);
    button->setObjectName("makeForms");
    button->setToolTip(
        tr("Writes every rewritten module class under the current decisions; takes some seconds"));
    connect(button, &QPushButton::clicked, this, [this, making] {
        if (making)
            evidence().stopForms();
        else
            evidence().makeForms();
    });
    if (making)
        section->add(text(muted(tr("writing the source of the rewritten classes ..."))));
    section->add(button);
}

void Page::addForm(Section* section, const SourceForms& forms, const std::string& module,
                   const std::string& site) {
    const auto reason = forms.reasons.find(site);
    if (reason != forms.reasons.end())
        section->add(text(muted(tr("Not in source: %1").arg(escaped(reason->second)))));
    const SourceForm* form = formFor(forms, module, site);
    if (!form) {
        if (reason == forms.reasons.end())
            section->add(text(muted(tr("The applied rewrites leave this forward as it is."))));
        return;
    }
    QStringList patterns;
    for (const std::string& pattern : form->patterns)
        patterns << escaped(pattern);
    section->add(text(
        tr("%1, rewritten by %2; the same in %n modules", nullptr, static_cast<int>(form->instances.size()))
            .arg("<b>" + escaped(form->className) + "</b>", patterns.join(", "))));
    auto* code = new CodeView(this);
    code->setObjectName("diff");
    code->setAccessibleName(tr("Difference of the forward of %1").arg(qt(form->className)));
    code->showDiff(qt(form->diff));
    section->add(code);
}

} // namespace workbench::gui
