#pragma once

#include "app/gui/decisions/sites_filter.h"

#include <QtWidgets/QCheckBox>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QToolButton>

#include <map>
#include <string>
#include <vector>

namespace workbench::gui {

/// A checkbox for all sites and one per pattern, and the layers that they act on.
class ScopeBar : public QWidget {
    Q_OBJECT
public:
    ScopeBar(Document& document, SitesModel& model, SitesFilter& filter, QWidget* parent);

    /// The field with the layers, to be placed where there is room.
    QWidget* layersField() const { return m_layersField; }
    QString layers() const { return m_layers->text(); }
    void setLayers(const QString& text) { m_layers->setText(text); }

private:
    void makeLayersField();
    void addBox(const std::string& pattern, const QString& label);
    void decide(const std::string& pattern, bool apply);
    void takeLayers(const QString& text);
    void refresh();
    /// Rows of a pattern ("": of all) that can be decided, in the layers.
    std::vector<std::size_t> decidable(const std::string& pattern) const;

    Document& m_document;
    SitesModel& m_model;
    SitesFilter& m_filter;
    QWidget* m_layersField;
    QLineEdit* m_layers;
    std::map<std::string, QCheckBox*> m_boxes; ///< by pattern; "" for all
};

/// A button per verdict with its number of sites; pressed ones are shown, none pressed shows all.
class VerdictChips : public QWidget {
    Q_OBJECT
public:
    VerdictChips(Document& document, SitesModel& model, SitesFilter& filter, QWidget* parent);

    QStringList pressed() const;
    void press(const QStringList& names);

private:
    void takeStates();
    void refresh();

    SitesModel& m_model;
    SitesFilter& m_filter;
    std::map<SiteOutcome::State, QToolButton*> m_chips;
};

} // namespace workbench::gui
