#pragma once

#include "app/gui/inspector/page.h"

namespace workbench::gui {

/// A site: what the pattern is, why it applies here or does not, what it is worth, what was proven.
class SitePage : public Page {
    Q_OBJECT
public:
    SitePage(std::size_t site, const PageContext& context, QWidget* parent);

private:
    const Site& site() const { return analysis().sites[m_site]; }
    void addState();
    void addDecisions();
    void addMiss();
    void addPattern();
    void addConditions();
    void addWorth();
    void addParts();

    const std::size_t m_site;
};

} // namespace workbench::gui
