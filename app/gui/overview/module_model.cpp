#include "app/gui/overview/module_model.h"

#include <QtGui/QFont>

#include <algorithm>

namespace workbench::gui {

ModuleModel::ModuleModel(const ModuleTree& tree, QObject* parent) : QAbstractItemModel(parent), m_root(tree) {
    m_places[&m_root] = {};
    m_byPath[std::string()] = &m_root;
    learn(m_root);
}

void ModuleModel::learn(const ModuleTree& module) {
    std::int64_t folded = 1;
    for (const ModuleTree& child : module.children)
        folded = std::max(folded, child.count);
    for (std::size_t i = 0; i < module.children.size(); ++i) {
        const ModuleTree& child = module.children[i];
        const bool isNumbered =
            !child.label.empty() && child.label.front() >= '0' && child.label.front() <= '9';
        m_places[&child] = {&module, static_cast<int>(i), folded > 1 && isNumbered && child.count < folded};
        for (const std::string& path : child.paths)
            m_byPath.emplace(path, &child);
        m_byPath.emplace(child.path, &child);
        learn(child);
    }
}

void ModuleModel::setFusion(const Overview& overview) {
    for (const auto& [module, place] : m_places) {
        ModuleFusion sum;
        const std::vector<std::string> own = {module->path};
        for (const std::string& path : module->paths.empty() ? own : module->paths) {
            const auto found = overview.modules.find(path);
            if (found == overview.modules.end())
                continue;
            sum.found += found->second.found;
            sum.done += found->second.done;
            sum.refused += found->second.refused;
        }
        m_fusion[module] = sum;
    }
    const auto changed = [this](const QModelIndex& parent, const auto& self) -> void {
        const int rows = rowCount(parent);
        if (rows == 0)
            return;
        Q_EMIT dataChanged(index(0, fused, parent), index(rows - 1, fused, parent));
        for (int row = 0; row < rows; ++row)
            self(index(row, 0, parent), self);
    };
    changed({}, changed);
}

const ModuleTree& ModuleModel::moduleAt(const QModelIndex& index) const {
    return *static_cast<const ModuleTree*>(index.internalPointer());
}

std::string ModuleModel::pathOf(const QModelIndex& index) const {
    return index.isValid() ? moduleAt(index).path : std::string();
}

QModelIndex ModuleModel::indexOf(std::string_view path) const {
    const std::string whole(path);
    for (;;) {
        if (const auto found = m_byPath.find(path); found != m_byPath.end()) {
            const ModuleTree& module = *found->second;
            if (path.size() < whole.size() &&
                module.path != path) // folded: what is below it is shown of the first one
                return indexOf(module.path + whole.substr(path.size()));
            return createIndex(m_places.at(&module).row, 0, &module);
        }
        const std::size_t dot = path.rfind('.');
        path = dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
    }
}

QModelIndex ModuleModel::index(int row, int column, const QModelIndex& parent) const {
    if (!hasIndex(row, column, parent))
        return {};
    const ModuleTree& module =
        parent.isValid() ? moduleAt(parent).children[static_cast<std::size_t>(row)] : m_root;
    return createIndex(row, column, &module);
}

QModelIndex ModuleModel::parent(const QModelIndex& index) const {
    if (!index.isValid())
        return {};
    const ModuleTree* parent = m_places.at(&moduleAt(index)).parent;
    return parent ? createIndex(m_places.at(parent).row, 0, parent) : QModelIndex();
}

int ModuleModel::rowCount(const QModelIndex& parent) const {
    if (!parent.isValid())
        return 1;
    return parent.column() == 0 ? static_cast<int>(moduleAt(parent).children.size()) : 0;
}

int ModuleModel::columnCount(const QModelIndex&) const {
    return columns;
}

QString ModuleModel::nameOf(const ModuleTree& module) const {
    const QString label = module.label.empty() ? tr("model") : QString::fromStdString(module.label);
    return module.count > 1 ? tr("%1  ×%2").arg(label).arg(module.count) : label;
}

ModuleFusion ModuleModel::fusionOf(const ModuleTree& module) const {
    const auto found = m_fusion.find(&module);
    return found == m_fusion.end() ? ModuleFusion() : found->second;
}

QString ModuleModel::tipOf(const ModuleTree& module) const {
    QString tip = module.path.empty() ? tr("The whole model") : QString::fromStdString(module.path);
    if (!module.className.empty())
        tip += tr("\nclass %1").arg(QString::fromStdString(module.className));
    tip += tr("\n%1 operations, %2 of weights")
               .arg(module.nodes)
               .arg(QString::fromStdString(memoryText(module.parameterBytes)));
    if (module.count > 1)
        tip += tr(" in each of %1 alike ones").arg(module.count);
    if (m_places.at(&module).isOdd)
        tip += tr("\nUnlike most of its siblings: other operations, shapes or wiring");
    const ModuleFusion fusion = fusionOf(module);
    if (fusion.found + fusion.refused > 0)
        tip += tr("\n%1 fusions found, %2 done, %3 refused")
                   .arg(fusion.found)
                   .arg(fusion.done)
                   .arg(fusion.refused);
    return tip;
}

QVariant ModuleModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const ModuleTree& module = moduleAt(index);
    if (role == Qt::ToolTipRole)
        return tipOf(module);
    if (role == Qt::FontRole && index.column() == name && m_places.at(&module).isOdd) {
        QFont font;
        font.setItalic(true);
        return font;
    }
    if (role == Qt::TextAlignmentRole && (index.column() == size || index.column() == fused))
        return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    const ModuleFusion fusion = fusionOf(module);
    switch (index.column()) {
    case name:
        return nameOf(module) + (m_places.at(&module).isOdd ? tr("  (differs)") : QString());
    case fused:
        return fusion.found > 0 ? tr("%1/%2").arg(fusion.done).arg(fusion.found) : QString();
    case size:
        return module.parameterBytes > 0
                   ? QString::fromStdString(memoryText(module.parameterBytes * module.count))
                   : QString();
    case className:
        return QString::fromStdString(module.className);
    default:
        return {};
    }
}

QVariant ModuleModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    const QString titles[columns] = {tr("Module"), tr("Fused"), tr("Weights"), tr("Class")};
    return section >= 0 && section < columns ? titles[section] : QString();
}

} // namespace workbench::gui
