#include "runtime/server/generation.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace workbench {
namespace {

constexpr int kPollMs = 20; ///< where the process has no descriptor left to be woken by

} // namespace

class Generation::Mailbox {
public:
    using Event = std::variant<TextToken, TextEnd>;
    struct Letter {
        std::size_t choice = 0;
        Event event;
    };

    Mailbox() : m_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
    ~Mailbox() {
        if (m_fd >= 0)
            ::close(m_fd);
    }
    Mailbox(const Mailbox&) = delete;
    Mailbox& operator=(const Mailbox&) = delete;

    void put(std::size_t choice, Event event) {
        const std::lock_guard lock(m_mutex);
        m_letters.push_back({choice, std::move(event)});
        if (m_letters.size() == 1)
            ::eventfd_write(m_fd, 1);
    }
    std::optional<Letter> take() {
        const std::lock_guard lock(m_mutex);
        if (m_letters.empty())
            return {};
        Letter letter = std::move(m_letters.front());
        m_letters.pop_front();
        eventfd_t ignored = 0;
        if (m_letters.empty())
            ::eventfd_read(m_fd, &ignored);
        return letter;
    }
    /// Until there may be a letter; false when the client leaves before.
    bool wait(pollfd client) const {
        std::array<pollfd, 2> entries{pollfd{m_fd, POLLIN, 0}, client};
        ::poll(entries.data(), entries.size(), m_fd >= 0 ? -1 : kPollMs);
        return entries[1].revents == 0;
    }

private:
    const int m_fd; ///< readable while there are letters
    std::mutex m_mutex;
    std::deque<Letter> m_letters;
};

Generation::Generation(TextBackend& backend, std::vector<TextRequest> requests,
                       std::vector<std::string> stops)
    : m_backend(backend), m_mailbox(std::make_shared<Mailbox>()), m_growing(requests.size()) {
    for (TextRequest& request : requests) {
        const std::size_t index = m_choices.size();
        Tokens endTokens = request.stopIds;
        if (!request.ignoreEos)
            endTokens.insert(endTokens.end(), backend.model().endTokens.begin(),
                             backend.model().endTokens.end());
        m_choices.push_back({StopMatcher(stops), 0, std::move(endTokens), std::ssize(request.prompt)});
        m_choices.back().id =
            backend.submit(std::move(request),
                           {[box = m_mailbox, index](TextToken token) { box->put(index, std::move(token)); },
                            [box = m_mailbox, index](TextEnd end) { box->put(index, std::move(end)); }});
    }
}

Generation::~Generation() {
    for (const Choice& choice : m_choices)
        if (!choice.ended)
            m_backend.cancel(choice.id);
}

std::variant<TextStep, ClientLeft, AllEnded> Generation::next(pollfd client) {
    while (m_growing > 0) {
        auto letter = m_mailbox->take();
        if (!letter) {
            if (!m_mailbox->wait(client))
                return ClientLeft{};
            continue;
        }
        if (auto* end = std::get_if<TextEnd>(&letter->event))
            return take(letter->choice, std::move(*end));
        if (auto step = take(letter->choice, std::move(std::get<TextToken>(letter->event))))
            return *std::move(step);
    }
    return AllEnded{};
}

/// Nothing for a token that came after a stop string.
std::optional<TextStep> Generation::take(std::size_t index, TextToken token) {
    Choice& choice = m_choices[index];
    if (choice.matcher.stopped())
        return {};
    ++choice.newTokens;
    TextStep step{index, choice.matcher.push(token.text), {}, {}};
    if (choice.matcher.stopped())
        m_backend.cancel(choice.id);
    if (std::ranges::find(choice.endTokens, token.sampled.token) == choice.endTokens.end())
        step.token = std::move(token);
    return step;
}

TextStep Generation::take(std::size_t index, TextEnd end) {
    Choice& choice = m_choices[index];
    choice.ended = true;
    --m_growing;
    TextStep step{index, {}, {}, {}};
    if (!end.error) {
        step.text = choice.matcher.push(end.text);
        step.text += choice.matcher.stopped() ? std::string() : choice.matcher.finish();
    }
    if (choice.matcher.stopped()) { // what the backend says of the rest does not matter
        end.reason = FinishReason::stop;
        end.error.reset();
    }
    end.promptTokens = choice.promptTokens;
    end.newTokens = choice.newTokens;
    step.end = std::move(end);
    return step;
}

} // namespace workbench
