#pragma once

#include "app/gui/window/model_tab.h"
#include "app/gui/window/notice_bar.h"

#include <QtCore/QStringList>

#include <vector>

namespace workbench::gui::test {

/// The sites that may be applied.
inline std::vector<std::size_t> applicable(const Document& document) {
    std::vector<std::size_t> sites;
    for (std::size_t i = 0; i < document.analysis().sites.size(); ++i)
        if (document.analysis().sites[i].verdict == SiteVerdict::applicable)
            sites.push_back(i);
    return sites;
}

/// What the tab's notices say, a line each.
inline QString notices(const ModelTab* tab) {
    QStringList texts;
    for (const NoticeBar* bar : tab->findChildren<NoticeBar*>())
        texts += bar->sentence();
    return texts.join('\n');
}

} // namespace workbench::gui::test
