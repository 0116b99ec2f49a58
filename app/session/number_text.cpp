#include "app/session/number_text.h"

#include <iomanip>
#include <sstream>

namespace workbench {

std::string fixed(double value, int digits) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(digits) << value;
    return text.str();
}

} // namespace workbench
