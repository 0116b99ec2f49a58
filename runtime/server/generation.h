#pragma once

#include "runtime/engine/stop_matcher.h"
#include "runtime/server/text_backend.h"

#include <poll.h>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace workbench {

/// What happened to one of the texts of an HTTP request.
struct TextStep {
    std::size_t choice = 0;
    std::string text;               ///< that can be shown now
    std::optional<TextToken> token; ///< chosen in this step; none for one that only ended the text
    std::optional<TextEnd> end;     ///< the choice's last step
};

struct ClientLeft {};
struct AllEnded {};

/// Texts that grow side by side for one HTTP request, with their stop strings. Its end cancels what still
/// grows. One thread at a time.
class Generation {
public:
    Generation(TextBackend& backend, std::vector<TextRequest> requests, std::vector<std::string> stops);
    ~Generation();
    Generation(const Generation&) = delete;
    Generation& operator=(const Generation&) = delete;

    /// The next step of any choice; waits for it until `client` (a descriptor and the events to look for)
    /// says that nobody wants it any more.
    std::variant<TextStep, ClientLeft, AllEnded> next(pollfd client);

private:
    /// Where the backend's events arrive, in their order. Outlives the Generation when it ends early.
    class Mailbox;
    struct Choice {
        StopMatcher matcher;
        TextBackend::Id id = 0;
        Tokens endTokens; ///< of the model and of the request
        std::int64_t promptTokens = 0;
        std::int64_t newTokens = 0;
        bool ended = false;
    };

    std::optional<TextStep> take(std::size_t index, TextToken token);
    TextStep take(std::size_t index, TextEnd end);

    TextBackend& m_backend;
    std::shared_ptr<Mailbox> m_mailbox;
    std::vector<Choice> m_choices;
    std::size_t m_growing = 0;
};

} // namespace workbench
