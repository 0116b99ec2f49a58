#include "fake_backend.h"

namespace workbench::testing {

using nlohmann::json;

void Gate::close() {
    const std::lock_guard lock(m_mutex);
    m_closed = true;
}

void Gate::open() {
    const std::lock_guard lock(m_mutex);
    m_closed = false;
    m_changed.notify_all();
}

void Gate::pass(const std::atomic<bool>& abort) {
    std::unique_lock lock(m_mutex);
    m_waiting = m_closed;
    m_changed.notify_all();
    while (m_closed && !abort) // the abort has no one to wake us: look at it now and then
        m_changed.wait_for(lock, std::chrono::milliseconds(1));
    m_waiting = false;
}

void Gate::waitForStep() {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_waiting; });
}

namespace {

class Letters : public TextStream {
public:
    Result<std::string> push(std::int64_t token) override {
        return std::string(1, static_cast<char>('a' + token));
    }
    Result<std::string> finish() override { return std::string(); }
};

} // namespace

FakeBackend::FakeBackend(Options options) {
    auto fake = std::make_unique<FakeModel>(options.blocks);
    fake->onRun = [this](const StepPlan&, const std::atomic<bool>& abort) -> Status {
        gate.pass(abort);
        return Ok{};
    };
    EngineOptions settings;
    settings.limits.runningRequests = options.running;
    settings.blocks = options.blocks;
    settings.queuedRequests = options.queue;
    m_engine = std::move(Engine::create(settings, std::move(fake)).value());
    m_model = {"fake", 1700000000, FakeModel::kVocabulary,
               std::min(options.longestTokens, m_engine->capacityTokens()), options.endTokens};
}

FakeBackend::~FakeBackend() {
    gate.open();
}

Result<Tokens> FakeBackend::encode(std::string_view text) {
    Tokens tokens;
    for (const char letter : text) {
        if (letter < 'a' || letter >= 'a' + FakeModel::kVocabulary)
            return Error{ErrorCode::badInput, "The tokenizer knows letters from a to x.", {}};
        tokens.push_back(letter - 'a');
    }
    return tokens;
}

Result<Tokens> FakeBackend::chat(const json& messages, const json& variables) {
    if (variables.value("refuse", false))
        return Error{ErrorCode::badInput, "The template refuses.", {}};
    std::string text;
    for (const json& message : messages)
        text += message["content"].get<std::string>();
    return encode(text);
}

Result<std::string> FakeBackend::decode(const Tokens& tokens) {
    std::string text;
    for (const std::int64_t token : tokens)
        text.push_back(static_cast<char>('a' + token));
    return text;
}

Result<std::vector<TokenPiece>> FakeBackend::pieces(const Tokens& tokens) {
    std::vector<TokenPiece> pieces;
    for (const std::int64_t token : tokens)
        pieces.push_back({decode({token}).value(), decode({token}).value()});
    return pieces;
}

TextBackend::Id FakeBackend::submit(TextRequest request, TextEvents events) {
    GenerationRequest wanted;
    wanted.prompt = std::move(request.prompt);
    wanted.sampling = request.sampling;
    wanted.stop = {request.maxTokens, m_model.endTokens, request.ignoreEos, std::move(request.stopIds), {}};
    wanted.text = std::make_unique<Letters>();
    wanted.onToken = [onToken = events.onToken](const GeneratedToken& token) {
        onToken({token.sampled, token.text});
    };
    wanted.onFinish = [onEnd = events.onEnd](const Completion& end) {
        onEnd({end.reason, end.error, end.text, end.promptTokens, end.reusedTokens, end.newTokens});
    };
    auto submitted = m_engine->submit(std::move(wanted));
    if (submitted)
        return *submitted;
    events.onEnd({.reason = FinishReason::failed, .error = submitted.error()});
    return 0;
}

std::optional<BackendStats> FakeBackend::stats() {
    const EngineStats stats = m_engine->stats();
    BackendStats told;
    told.running = stats.scheduler.running;
    told.waiting = stats.scheduler.waiting;
    told.finished = stats.finished;
    told.cancelled = stats.cancelled;
    told.blocks = stats.scheduler.blocks;
    told.freeBlocks = stats.scheduler.freeBlocks;
    return told;
}

bool FakeBackend::allBlocksFree() {
    m_engine->waitIdle();
    const SchedulerCounts counts = m_engine->stats().scheduler;
    return counts.running == 0 && counts.waiting == 0 && counts.freeBlocks == counts.blocks;
}

std::string FakeBackend::greedy(std::string prompt, std::size_t letters) {
    std::vector<std::int64_t> history;
    for (const char letter : prompt)
        history.push_back(letter - 'a');
    std::string text;
    while (text.size() < letters) {
        const auto logits = FakeModel::logitsAfter(history, {0});
        history.push_back(std::ranges::max_element(logits) - logits.begin());
        text.push_back(static_cast<char>('a' + history.back()));
    }
    return text;
}

void ServerFixture::start() {
    m_serverOptions.http.port = 0;
    auto started = TextServer::start(m_serverOptions, backend());
    ASSERT_TRUE(started) << started.error().message;
    m_server = std::move(started).value();
}

std::pair<int, json> ServerFixture::call(const std::string& request) {
    const Answer answer = ask(port(), request);
    json body = json::parse(answer.body, nullptr, false);
    return {answer.status, body.is_discarded() ? json(answer.body) : body};
}

std::vector<json> ServerFixture::events(const std::string& path, const std::string& body) {
    const Answer answer = ask(port(), post(path, body));
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_TRUE(answer.headers.at("content-type").starts_with("text/event-stream"));
    std::vector<json> list;
    std::string rest = answer.body;
    bool done = false;
    while (!rest.empty()) {
        const std::size_t end = rest.find("\n\n");
        const std::string event = rest.substr(0, end);
        rest.erase(0, end == std::string::npos ? rest.size() : end + 2);
        EXPECT_TRUE(event.starts_with("data: ")) << event;
        done = event == "data: [DONE]";
        if (!done)
            list.push_back(json::parse(event.substr(6)));
    }
    EXPECT_TRUE(done) << answer.body;
    return list;
}

} // namespace workbench::testing
