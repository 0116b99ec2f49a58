#pragma once

#include "app/session/own_code.h"

#include <QtWidgets/QMessageBox>

namespace workbench::gui {

/// Asks before a model's own Python code runs: what it is, where, and what it can do. The safe answer is the
/// default.
class ConsentDialog : public QMessageBox {
    Q_OBJECT
public:
    ConsentDialog(const OwnCode& code, QWidget* parent);

Q_SIGNALS:
    void consented(); ///< for this opening alone; never remembered
};

} // namespace workbench::gui
