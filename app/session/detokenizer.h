#pragma once

#include "app/session/incremental_text.h"
#include "app/session/tokenizer_service.h"
#include "runtime/server/text_backend.h"

#include <condition_variable>
#include <deque>
#include <thread>
#include <variant>

namespace workbench {

/// Gives the tokens of many texts their text, on a thread of its own: all that come together cost one
/// question to the tokenizer.
class Detokenizer {
public:
    /// One growing text.
    struct Stream {
        TextEvents events;
        Tokens endTokens;             ///< these have no text
        IncrementalText text;         ///< of the detokenizer's thread
        bool ended = false;           ///< likewise
        std::function<void()> giveUp; ///< the tokenizer failed: nobody needs more of its tokens
    };

    explicit Detokenizer(TokenizerService& tokenizer);
    /// Delivers what has come, and ends.
    ~Detokenizer();
    Detokenizer(const Detokenizer&) = delete;
    Detokenizer& operator=(const Detokenizer&) = delete;

    void add(std::shared_ptr<Stream> stream, Sampled token);
    void end(std::shared_ptr<Stream> stream, TextEnd end);

private:
    struct Item {
        std::shared_ptr<Stream> stream;
        std::variant<Sampled, TextEnd> what;
    };

    void put(Item item);
    void loop();
    std::vector<Item> takeRound();
    void deliver(std::vector<Item> round);
    Result<std::vector<std::string>> textsOf(std::vector<Item>& round);
    static void finish(Stream& stream, TextEnd end);

    TokenizerService& m_tokenizer;
    std::mutex m_mutex;
    std::condition_variable m_came;
    std::deque<Item> m_items;
    bool m_stop = false;
    std::thread m_thread; ///< last: uses all else
};

} // namespace workbench
