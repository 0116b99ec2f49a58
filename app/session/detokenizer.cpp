#include "app/session/detokenizer.h"

#include <algorithm>
#include <set>

namespace workbench {

Detokenizer::Detokenizer(TokenizerService& tokenizer)
    : m_tokenizer(tokenizer), m_thread([this] { loop(); }) {}

Detokenizer::~Detokenizer() {
    {
        const std::lock_guard lock(m_mutex);
        m_stop = true;
        m_came.notify_one();
    }
    m_thread.join();
}

void Detokenizer::put(Item item) {
    const std::lock_guard lock(m_mutex);
    m_items.push_back(std::move(item));
    m_came.notify_one();
}

void Detokenizer::add(std::shared_ptr<Stream> stream, Sampled token) {
    put({std::move(stream), std::move(token)});
}

void Detokenizer::end(std::shared_ptr<Stream> stream, TextEnd end) {
    put({std::move(stream), std::move(end)});
}

/// What has come, but one item of each stream at most: its next token's text depends on the last one's. Empty
/// at the end.
std::vector<Detokenizer::Item> Detokenizer::takeRound() {
    std::unique_lock lock(m_mutex);
    m_came.wait(lock, [this] { return m_stop || !m_items.empty(); });
    std::vector<Item> round;
    std::deque<Item> later;
    std::set<const Stream*> seen;
    for (Item& item : m_items)
        if (seen.insert(item.stream.get()).second)
            round.push_back(std::move(item));
        else
            later.push_back(std::move(item));
    m_items = std::move(later);
    return round;
}

void Detokenizer::loop() {
    for (auto round = takeRound(); !round.empty(); round = takeRound())
        deliver(std::move(round));
}

/// For each item with text to come two texts, of its stream's window and of the fresh end of that.
Result<std::vector<std::string>> Detokenizer::textsOf(std::vector<Item>& round) {
    std::vector<Tokens> lists;
    for (Item& item : round) {
        const auto* token = std::get_if<Sampled>(&item.what);
        Stream& stream = *item.stream;
        if (!token || stream.ended ||
            std::ranges::find(stream.endTokens, token->token) != stream.endTokens.end())
            continue;
        stream.text.push(token->token);
        lists.push_back(stream.text.window());
        lists.push_back(stream.text.fresh());
    }
    if (lists.empty())
        return std::vector<std::string>();
    return m_tokenizer.decodeMany(lists);
}

void Detokenizer::deliver(std::vector<Item> round) {
    auto texts = textsOf(round);
    std::size_t next = 0;
    for (Item& item : round) {
        Stream& stream = *item.stream;
        if (stream.ended)
            continue;
        if (auto* end = std::get_if<TextEnd>(&item.what)) {
            finish(stream, std::move(*end));
            continue;
        }
        TextToken token{std::get<Sampled>(std::move(item.what)), {}};
        const bool isEnd = std::ranges::find(stream.endTokens, token.sampled.token) != stream.endTokens.end();
        if (!isEnd && !texts) {
            finish(stream, {.reason = FinishReason::failed, .error = texts.error()});
            if (stream.giveUp)
                stream.giveUp();
            continue;
        }
        if (!isEnd) {
            token.text = stream.text.take((*texts)[next], (*texts)[next + 1]);
            next += 2;
        }
        stream.events.onToken(std::move(token));
    }
}

void Detokenizer::finish(Stream& stream, TextEnd end) {
    stream.ended = true;
    if (!end.error && end.reason != FinishReason::cancelled)
        end.text = stream.text.finish();
    stream.events.onEnd(std::move(end));
}

} // namespace workbench
