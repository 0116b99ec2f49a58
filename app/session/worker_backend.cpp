#include "app/session/worker_backend.h"

#include "app/session/verify_steps.h"
#include "runtime/engine/block_allocator.h"

#include <algorithm>
#include <ctime>
#include <future>

namespace workbench {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr auto kStatsPatience = 500ms;
constexpr auto kLongestPause = 30s; ///< between two tries to load the model again

json toParams(TextRequest request, const Tokens& endTokens) {
    const SamplingParams& sampling = request.sampling;
    json params = {{"program", kRewritten},
                   {"prompt", std::move(request.prompt)},
                   {"max_tokens", request.maxTokens},
                   {"eos", endTokens},
                   {"ignore_eos", request.ignoreEos},
                   {"stop_ids", request.stopIds},
                   {"temperature", sampling.temperature},
                   {"top_k", sampling.topK},
                   {"top_p", sampling.topP},
                   {"min_p", sampling.minP},
                   {"repetition_penalty", sampling.repetitionPenalty},
                   {"presence_penalty", sampling.presencePenalty},
                   {"frequency_penalty", sampling.frequencyPenalty}};
    if (sampling.seed)
        params["seed"] = static_cast<std::int64_t>(*sampling.seed);
    if (sampling.logprobs)
        params["logprobs"] = *sampling.logprobs;
    return params;
}

Sampled sampledOf(const json& event) {
    Sampled sampled;
    sampled.token = event.value("token", std::int64_t{-1});
    sampled.logprob = numberOf(event, "logprob");
    for (const json& pair : event.value("top", json::array()))
        if (pair.is_array() && pair.size() == 2 && pair[0].is_number_integer())
            sampled.top.push_back(
                {pair[0].get<std::int64_t>(),
                 pair[1].is_number() ? pair[1].get<double>() : -std::numeric_limits<double>::infinity()});
    return sampled;
}

TextEnd endOf(const Result<json>& answer) {
    TextEnd end;
    if (!answer) {
        end.reason =
            answer.error().code == ErrorCode::cancelled ? FinishReason::cancelled : FinishReason::failed;
        if (end.reason == FinishReason::failed)
            end.error = answer.error();
        return end;
    }
    end.reason = answer->value("finish", "") == "length" ? FinishReason::length : FinishReason::stop;
    end.reusedTokens = answer->value("reused_tokens", std::int64_t{0});
    return end;
}

BackendStats statsOf(const json& answer) {
    const auto count = [&](const char* key) { return answer.value(key, std::int64_t{0}); };
    return {count("running"),
            count("waiting"),
            count("finished"),
            count("cancelled"),
            count("failed"),
            count("refused"),
            count("preemptions"),
            count("reused_tokens"),
            count("computed_tokens"),
            count("new_tokens"),
            count("steps"),
            count("blocks"),
            count("free_blocks"),
            answer.value("step_s", 0.0),
            answer.value("model_s", 0.0)};
}

Error unavailable() {
    return {ErrorCode::runtimeFailed, "The model is being loaded again: try in a moment.", kUnavailable};
}

} // namespace

Result<std::unique_ptr<WorkerBackend>> WorkerBackend::create(Session& session, WorkerBackendOptions options,
                                                             const Job& job) {
    auto program = session.rewritten();
    if (!program)
        return program.error();
    std::unique_ptr<WorkerBackend> backend(new WorkerBackend(session, *program, std::move(options)));
    if (auto loaded = backend->load(job); !loaded)
        return loaded.error();
    // Both tokenizers started before; what keeps them from working is better known now than with each
    // request.
    for (TokenizerService* tokenizer : {&backend->m_prompts, &backend->m_texts})
        if (auto works = tokenizer->decodeMany({}); !works)
            return works.error();
    backend->m_keeper = std::thread([raw = backend.get()] { raw->keepLoaded(); });
    return backend;
}

WorkerBackend::WorkerBackend(Session& session, std::shared_ptr<const Rewritten> program,
                             WorkerBackendOptions options)
    : m_options(std::move(options)), m_traced(session.sharedModel()), m_program(std::move(program)),
      m_locations(session.locations()),
      m_prompts(*session.tracer(), m_traced->directory, session.options().trustRemoteCode),
      m_texts(*session.tracer(), m_traced->directory, session.options().trustRemoteCode),
      m_detokenizer(m_texts) {
    m_model.id = m_options.modelName;
    m_model.created = std::time(nullptr);
    m_model.vocabulary = m_traced->facts.vocabulary;
    m_model.endTokens = m_traced->facts.eosTokens;
}

WorkerBackend::~WorkerBackend() {
    {
        const std::lock_guard lock(m_mutex);
        m_stop.cancel();
        m_changed.notify_all();
    }
    if (m_keeper.joinable())
        m_keeper.join();
    std::unique_lock lock(m_mutex);
    auto link = std::exchange(m_link, nullptr);
    lock.unlock();
    link.reset(); // its last answers go through the detokenizer
    m_prompts.stop();
    m_texts.stop();
}

/// Starts a worker with the model in it, and hands it to the link.
Status WorkerBackend::load(const Job& job) {
    Runtime runtime(m_locations, m_options.worker, m_options.workerModel, m_options.weightFormat,
                    m_options.device);
    runtime.setNotices(m_options.onNotice);
    if (auto loaded = runtime.load(kRewritten, m_program->graph, runtime.weightsOf(*m_traced), job); !loaded)
        return loaded.error();
    auto engine = runtime.call("engine",
                               {{"program", kRewritten},
                                {"max_batch_tokens", m_options.engine.batchTokens},
                                {"max_queue", m_options.engine.queue},
                                {"kv_cache_bytes", m_options.engine.kvCacheBytes}},
                               job);
    if (!engine)
        return engine.error();
    auto worker = runtime.takeWorker(job);
    if (!worker)
        return worker.error();
    const std::int64_t context = m_traced->facts.contextLength;
    const std::int64_t capacity = engine->result.value("capacity_tokens", std::int64_t{0});
    const std::lock_guard lock(m_mutex);
    if (m_model.longestTokens == 0) // known from the first time on; others read it without a lock
        m_model.longestTokens = std::min(context > 0 ? context : BlockAllocator::kUnlimited,
                                         capacity > 0 ? capacity : BlockAllocator::kUnlimited);
    m_died = false;
    m_link =
        std::make_shared<WorkerLink>(std::move(*worker), [this](const Error& error) { workerDied(error); });
    return Ok{};
}

void WorkerBackend::workerDied(const Error& error) {
    if (m_stop.cancelled())
        return;
    if (m_options.onNotice)
        m_options.onNotice(error.message);
    const std::lock_guard lock(m_mutex);
    m_died = true;
    m_changed.notify_all();
}

/// Loads the model again whenever its worker has died.
void WorkerBackend::keepLoaded() {
    const Job job{&m_stop, {}};
    std::unique_lock lock(m_mutex);
    for (;;) {
        m_changed.wait(lock, [this] { return m_died || m_stop.cancelled(); });
        if (m_stop.cancelled())
            return;
        auto dead = std::exchange(m_link, nullptr);
        lock.unlock();
        dead.reset();
        std::chrono::seconds pause = 1s;
        auto loaded = load(job);
        while (!loaded && !m_stop.cancelled()) {
            if (m_options.onNotice)
                m_options.onNotice("the model cannot be loaded again: " + loaded.error().message);
            lock.lock();
            m_changed.wait_for(lock, pause, [this] { return m_stop.cancelled(); });
            lock.unlock();
            pause = std::min<std::chrono::seconds>(pause * 2, kLongestPause);
            loaded = load(job);
        }
        if (loaded && m_options.onNotice)
            m_options.onNotice("the model is loaded again");
        lock.lock();
    }
}

std::shared_ptr<WorkerLink> WorkerBackend::link() const {
    const std::lock_guard lock(m_mutex);
    return m_died ? nullptr : m_link;
}

bool WorkerBackend::ready() const {
    return link() != nullptr;
}

Result<Tokens> WorkerBackend::encode(std::string_view text) {
    return m_prompts.ids({{"op", "encode"}, {"text", text}, {"add_special_tokens", true}});
}

Result<Tokens> WorkerBackend::chat(const json& messages, const json& variables) {
    return m_prompts.ids({{"op", "chat"}, {"messages", messages}, {"variables", variables}});
}

Result<std::vector<TokenPiece>> WorkerBackend::pieces(const Tokens& tokens) {
    auto answer = m_texts.request({{"op", "pieces"}, {"ids", tokens}});
    if (!answer)
        return answer.error();
    std::vector<TokenPiece> pieces;
    for (const json& piece : answer->value("pieces", json::array())) {
        TokenPiece named{piece.value("text", ""), {}};
        for (const std::int64_t byte : integersOf(piece, "bytes"))
            named.bytes.push_back(static_cast<char>(byte));
        pieces.push_back(std::move(named));
    }
    if (pieces.size() != tokens.size())
        return Error{ErrorCode::runtimeFailed, "the tokenizer did not name every token", {}};
    return pieces;
}

TextBackend::Id WorkerBackend::submit(TextRequest request, TextEvents events) {
    const auto worker = link();
    if (!worker) {
        events.onEnd({.reason = FinishReason::failed, .error = unavailable()});
        return 0;
    }
    auto stream = std::make_shared<Detokenizer::Stream>();
    stream->events = std::move(events);
    stream->endTokens = request.stopIds;
    if (!request.ignoreEos)
        stream->endTokens.insert(stream->endTokens.end(), m_model.endTokens.begin(), m_model.endTokens.end());
    const auto known = std::make_shared<std::atomic<std::int64_t>>(0);
    stream->giveUp = [this, known] { cancel(static_cast<Id>(known->load())); };
    const std::int64_t id = worker->send(
        "generate", toParams(std::move(request), m_model.endTokens),
        [this, stream](const json& event) {
            if (event.value("event", "") == "token")
                m_detokenizer.add(stream, sampledOf(event));
        },
        [this, stream](const Result<json>& answer) { m_detokenizer.end(stream, endOf(answer)); });
    *known = id;
    return static_cast<Id>(id);
}

void WorkerBackend::cancel(Id id) {
    if (const auto worker = link(); worker && id != 0)
        worker->cancel(static_cast<std::int64_t>(id));
}

/// Once, however often the worker says it.
void WorkerBackend::tellNote(const std::string& note) {
    {
        const std::lock_guard lock(m_mutex);
        if (note.empty() || std::exchange(m_note, note) == note)
            return;
    }
    if (m_options.onNotice)
        m_options.onNotice(note);
}

std::optional<BackendStats> WorkerBackend::stats() {
    const auto worker = link();
    if (!worker)
        return {};
    const auto promise = std::make_shared<std::promise<Result<json>>>();
    auto answer = promise->get_future();
    worker->send("stats", {{"program", kRewritten}}, {},
                 [promise](Result<json> result) { promise->set_value(std::move(result)); });
    if (answer.wait_for(kStatsPatience) != std::future_status::ready)
        return {};
    const auto result = answer.get();
    if (result)
        tellNote(result->value("note", ""));
    return result ? std::optional(statsOf(*result)) : std::nullopt;
}

} // namespace workbench
