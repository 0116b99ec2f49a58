// Attention whose inputs are all on the device against attentionPaged(), which the host leads through the
// same blocks.
#include "runtime/ops/attention_tables.h"
#include "runtime/ops/attention_varlen.h"
#include "runtime/ops/host_tables.h"
#include "runtime/ops/kernels.h"
#include "tests/runtime/ops/support.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace workbench::ops {
namespace {

using testing::expectRefused;

struct Form {
    int64_t queryHeads;
    int64_t kvHeads;
    int64_t width;
    int64_t valueWidth;
    int64_t blockTokens;
};

struct Mask {
    MaskKind kind = MaskKind::Causal;
    int64_t window = 0;
    double softcap = 0;
};

/// Of one sequence: tokens that the cache has, and tokens of the call.
struct Part {
    int64_t before;
    int64_t fresh;
};

class AttentionTablesTest : public testing::OpTest {
protected:
    /// A call, all on the CPU, with what the host knows of it.
    struct Call {
        AttentionArgs args;
        PagedKvView pages;
        at::Tensor sequences;
        at::Tensor blocks;
        std::vector<PagedSequence> parts;
    };

    Call makeCall(const Form& form, const Mask& mask, const std::vector<Part>& parts) {
        Call call;
        addTokens(call, parts);
        const int64_t tokens = call.sequences.size(0);
        call.args.query = onHost({1, tokens, form.queryHeads, form.width}).transpose(1, 2);
        call.args.key = onHost({1, tokens, form.kvHeads, form.width}).transpose(1, 2);
        call.args.value = onHost({1, tokens, form.kvHeads, form.valueWidth}).transpose(1, 2);
        call.args.scale = 0.2;
        call.args.mask = mask.kind;
        call.args.window = mask.window;
        call.args.softcap = mask.softcap;
        const at::Tensor order = addBlocks(call, form.blockTokens, parts);
        call.pages.key = pagesOf(form, form.width, order, parts);
        call.pages.value = pagesOf(form, form.valueWidth, order, parts);
        return call;
    }

    static void addTokens(Call& call, const std::vector<Part>& parts) {
        std::vector<int64_t> positions;
        std::vector<int32_t> sequences;
        for (const Part& part : parts) {
            call.parts.push_back({std::ssize(positions), part.fresh, part.before, nullptr, 0});
            for (int64_t token = 0; token < part.fresh; ++token) {
                positions.push_back(part.before + token);
                sequences.push_back(static_cast<int32_t>(call.parts.size()) - 1);
            }
        }
        call.args.positions = at::tensor(positions, at::kLong).unsqueeze(0);
        call.sequences = at::tensor(sequences, at::kInt);
    }

    static int64_t blocksOf(const Part& part, int64_t blockTokens) {
        return (part.before + part.fresh + blockTokens - 1) / blockTokens;
    }

    /// Blocks in random order, which is returned; -7 where a sequence has none.
    at::Tensor addBlocks(Call& call, int64_t blockTokens, const std::vector<Part>& parts) {
        int64_t columns = 1;
        int64_t count = 0;
        for (const Part& part : parts) {
            columns = std::max(columns, blocksOf(part, blockTokens));
            count += blocksOf(part, blockTokens);
        }
        std::vector<int32_t> order(static_cast<size_t>(count));
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), m_generator);
        call.blocks = at::full({std::ssize(parts), columns}, -7, at::kInt);
        auto* to = call.blocks.mutable_data_ptr<int32_t>();
        auto next = order.begin();
        for (size_t i = 0; i < parts.size(); ++i, to += columns) {
            const int64_t own = blocksOf(parts[i], blockTokens);
            std::copy_n(next, own, to);
            next += own;
            call.parts[i].blocks = to;
            call.parts[i].blockCount = own;
        }
        return at::tensor(order, at::kLong);
    }

    /// [blocks, Hkv, block tokens, width]; what no token wrote is NaN.
    at::Tensor pagesOf(const Form& form, int64_t width, const at::Tensor& order,
                       const std::vector<Part>& parts) {
        const at::Tensor rows = onHost({order.size(0) * form.blockTokens, form.kvHeads, width});
        int64_t first = 0;
        for (const Part& part : parts) {
            const int64_t slots = blocksOf(part, form.blockTokens) * form.blockTokens;
            rows.slice(0, first + part.before, first + slots).fill_(std::numeric_limits<double>::quiet_NaN());
            first += slots;
        }
        const at::Tensor pages = rows.view({order.size(0), form.blockTokens, form.kvHeads, width});
        return at::empty_like(pages).index_copy_(0, order, pages).transpose(1, 2).contiguous();
    }

    at::Tensor onHost(std::initializer_list<int64_t> shape) { return random(shape).cpu(); }
    at::Tensor moved(const at::Tensor& tensor) const { return tensor.to(GetParam().device); }
    std::optional<at::Tensor> moved(const std::optional<at::Tensor>& tensor) const {
        return tensor.has_value() ? std::optional(moved(*tensor)) : std::nullopt;
    }

    /// The call's arguments on the device of the test.
    struct OnDevice {
        AttentionArgs args;
        PagedKvView pages;
        PagedTables tables;
    };
    OnDevice moved(const Call& call) const {
        OnDevice there{call.args, {moved(call.pages.key.clone()), moved(call.pages.value.clone())}, {}};
        there.args.query = moved(call.args.query);
        there.args.key = moved(call.args.key);
        there.args.value = moved(call.args.value);
        there.args.positions = moved(call.args.positions);
        there.args.sinks = moved(call.args.sinks);
        there.args.slopes = moved(call.args.slopes);
        there.tables = hostTables(there.args, there.pages, moved(call.sequences), moved(call.blocks));
        return there;
    }

    static at::Tensor expected(const Call& call, PagedKvView& pages) {
        pages = {call.pages.key.clone(), call.pages.value.clone()};
        return attentionPaged(call.args, pages, call.parts);
    }

    void expectSame(const Call& call) {
        PagedKvView pages;
        const at::Tensor wanted = expected(call, pages);
        OnDevice there = moved(call);
        const at::Tensor output = attentionOnTables(there.args, there.pages, there.tables);
        EXPECT_TRUE(output.is_contiguous());
        testing::expectCloseSums(output, wanted);
        EXPECT_TRUE(at::allclose(there.pages.key.cpu(), pages.key, 0, 0, /*equal_nan=*/true));
        EXPECT_TRUE(at::allclose(there.pages.value.cpu(), pages.value, 0, 0, /*equal_nan=*/true));
    }

    std::mt19937 m_generator{11};
};

const Form kForms[] = {{2, 2, 128, 128, 16}, {9, 3, 64, 64, 64},  {8, 1, 40, 40, 4}, {12, 1, 128, 128, 16},
                       {6, 2, 33, 21, 16},   {10, 2, 20, 24, 16}, {2, 1, 7, 300, 4}, {2, 2, 16, 16, 512}};

const Mask kMasks[] = {{},
                       {MaskKind::Causal, 0, 5},
                       {MaskKind::Sliding, 50},
                       {MaskKind::Sliding, 600},
                       {MaskKind::Chunked, 64},
                       {MaskKind::Chunked, 700, 5}};

std::string describe(const Form& form, const Mask& mask) {
    return std::to_string(form.queryHeads) + "/" + std::to_string(form.kvHeads) + " heads of " +
           std::to_string(form.width) + "/" + std::to_string(form.valueWidth) + ", blocks of " +
           std::to_string(form.blockTokens) + ", mask " + std::to_string(static_cast<int>(mask.kind)) +
           ", window " + std::to_string(mask.window);
}

TEST_P(AttentionTablesTest, DecodesAsTheFormThatTheHostLeads) {
    for (const Form& form : kForms) {
        for (const Mask& mask : kMasks) {
            if (!takesNextCase())
                continue;
            SCOPED_TRACE(describe(form, mask));
            Call call = makeCall(form, mask, {{510, 1}, {511, 1}, {512, 1}, {1499, 1}, {0, 1}, {32, 1}});
            if (mask.window % 4 == 0)
                call.args.sinks = onHost({form.queryHeads});
            if (mask.softcap == 0)
                call.args.slopes = onHost({form.queryHeads}) * 0.01;
            expectSame(call);
        }
    }
}

TEST_P(AttentionTablesTest, DecodesASingleSequence) {
    for (const int64_t before : {0, 3, 511, 1024, 2047})
        expectSame(makeCall(kForms[1], {}, {{before, 1}}));
}

TEST_P(AttentionTablesTest, TakesTheWidestHeads) {
    for (const int64_t valueWidth : {1024, 1021}) {
        Call call = makeCall({10, 1, 1024, valueWidth, 4}, {}, {{530, 1}, {2, 1}});
        call.args.scale = 1.0 / 32;
        expectSame(call);
    }
}

TEST_P(AttentionTablesTest, StaysFiniteForLargeScores) {
    for (const Form& form : kForms) {
        Call call = makeCall(form, {}, {{700, 1}, {20, 1}});
        call.args.scale = 500;
        OnDevice there = moved(call);
        const at::Tensor output = attentionOnTables(there.args, there.pages, there.tables);
        EXPECT_TRUE(at::isfinite(output).all().item<bool>());
    }
}

TEST_P(AttentionTablesTest, TakesPromptsAndSinglesInOneCall) {
    const std::vector<Part> parts{{40, 1}, {0, 30}, {700, 1}, {90, 12}, {520, 2}, {0, 1}};
    for (const Form& form : kForms) {
        for (const Mask& mask : kMasks) {
            if (!takesNextCase())
                continue;
            SCOPED_TRACE(describe(form, mask));
            expectSame(makeCall(form, mask, parts));
        }
    }
    Call call = makeCall(kForms[0], {}, parts);
    call.args.sinks = onHost({kForms[0].queryHeads});
    expectSame(call);
}

TEST_P(AttentionTablesTest, TakesPromptsAlone) {
    expectSame(makeCall(kForms[0], {}, {{0, 600}}));
    expectSame(makeCall(kForms[1], {MaskKind::Sliding, 30}, {{0, 64}, {100, 33}}));
}

TEST_P(AttentionTablesTest, NeverLooksAtBlocksThatAWindowHasLeft) {
    for (const Mask& mask : {Mask{MaskKind::Sliding, 40}, Mask{MaskKind::Chunked, 64}}) {
        // 200 and its chunk begin at 161 and 192, the prompt's first token sees from 121 or 128 on.
        Call call = makeCall(kForms[1], mask, {{200, 1}, {160, 20}});
        call.blocks[0].slice(0, 0, 2).fill_(-1);
        call.blocks[1].slice(0, 0, 1).fill_(-1);
        expectSame(call);
    }
}

TEST_P(AttentionTablesTest, LetsMostKeysBeRoundedUp) {
    const Call call = makeCall(kForms[1], {}, {{600, 1}, {10, 1}});
    PagedKvView pages;
    const at::Tensor wanted = expected(call, pages);
    for (const int64_t mostKeys : {601, 4096, 100000}) {
        OnDevice there = moved(call);
        there.tables.mostKeys = mostKeys;
        testing::expectCloseSums(attentionOnTables(there.args, there.pages, there.tables), wanted);
    }
}

TEST_P(AttentionTablesTest, ReadsNewNumbersFromTheSameTensors) {
    const Call first = makeCall(kForms[1], {}, {{600, 1}, {10, 1}});
    const Call second = makeCall(kForms[1], {}, {{540, 1}, {609, 1}});
    OnDevice there = moved(first);
    attentionOnTables(there.args, there.pages, there.tables);
    there.tables.mostKeys = 1024;
    const OnDevice next = moved(second);
    there.args.query.copy_(next.args.query);
    there.args.key.copy_(next.args.key);
    there.args.value.copy_(next.args.value);
    there.args.positions.copy_(next.args.positions);
    there.tables.blocks.copy_(next.tables.blocks);
    there.pages = next.pages;
    PagedKvView pages;
    testing::expectCloseSums(attentionOnTables(there.args, there.pages, there.tables),
                             expected(second, pages));
}

TEST_P(AttentionTablesTest, PaddingTokensShareABlockThatNobodyElseReads) {
    const Call call = makeCall(kForms[1], {}, {{600, 1}, {10, 1}, {0, 1}});
    PagedKvView pages;
    const at::Tensor wanted = expected(call, pages);
    OnDevice there = moved(call);
    const at::Tensor all = moved(at::tensor({0, 1, 2, 2, 2}, at::kLong)); // two more at the third's place
    there.args.query = there.args.query.index_select(2, all);
    there.args.key = there.args.key.index_select(2, all);
    there.args.value = there.args.value.index_select(2, all);
    there.args.positions = there.args.positions.index_select(1, all);
    there.tables.sequences = there.tables.sequences.index_select(0, all);
    const at::Tensor output = attentionOnTables(there.args, there.pages, there.tables);
    testing::expectCloseSums(output.slice(1, 0, 3), wanted);
    EXPECT_TRUE(at::isfinite(output).all().item<bool>());
}

TEST_P(AttentionTablesTest, TakesStridedArgumentsAndPages) {
    Call call = makeCall(kForms[0], {}, {{40, 1}, {0, 5}});
    PagedKvView pages;
    const at::Tensor wanted = expected(call, pages);
    for (const auto& strided : {testing::slicedCopy, testing::stridedCopy}) {
        OnDevice there = moved(call);
        there.args.query = strided(there.args.query);
        there.args.key = strided(there.args.key);
        there.args.value = strided(there.args.value);
        there.args.positions = at::stack({there.args.positions, there.args.positions}, -1).select(-1, 1);
        there.pages = {testing::slicedCopy(there.pages.key), testing::slicedCopy(there.pages.value)};
        testing::expectCloseSums(attentionOnTables(there.args, there.pages, there.tables), wanted);
        EXPECT_TRUE(at::allclose(there.pages.key.cpu(), pages.key, 0, 0, /*equal_nan=*/true));
    }
}

TEST_P(AttentionTablesTest, AnswersACallWithoutTokens) {
    Call call = makeCall(kForms[1], {}, {{20, 0}});
    OnDevice there = moved(call);
    const at::Tensor output = attentionOnTables(there.args, there.pages, there.tables);
    EXPECT_EQ(output.sizes(), (std::vector<int64_t>{1, 0, 9, 64}));
}

TEST_P(AttentionTablesTest, RefusesTablesThatDoNotFit) {
    const Call call = makeCall(kForms[0], {}, {{40, 1}, {0, 70}});
    const auto refused = [&](const std::function<void(OnDevice&)>& spoil, const std::string& part) {
        OnDevice there = moved(call);
        const at::Tensor before = there.pages.key.clone();
        spoil(there);
        expectRefused([&] { attentionOnTables(there.args, there.pages, there.tables); }, part);
        EXPECT_TRUE(at::allclose(there.pages.key, before, 0, 0, /*equal_nan=*/true))
            << part; // nothing is stored
    };
    refused([](auto& x) { x.tables.sequences.reset(); }, "sequences must be a contiguous tensor of Int");
    refused([](auto& x) { x.tables.sequences = x.tables.sequences.slice(0, 1); },
            "sequences must have one number for each of the 71 tokens, got 70");
    refused([](auto& x) { x.tables.blocks = x.tables.blocks.to(at::kLong); },
            "blocks must be a contiguous tensor of Int with 2 dimensions");
    refused([](auto& x) { x.tables.blocks = x.tables.blocks.t(); }, "blocks must be a contiguous tensor");
    refused([](auto& x) { x.tables.singles.reset(); }, "71 single tokens and 70 of prompts");
    refused([](auto& x) { x.tables.mostKeys = 0; }, "mostKeys must be at least 1, got 0");
    refused([](auto& x) { x.tables.prompts.mostKeys = 3; }, "prompts of at most 70 tokens");
    refused([](auto& x) { x.tables.prompts.keySlots = x.tables.prompts.keySlots.slice(0, 1); },
            "prompts must have one block and one slot per key");
    refused([](auto& x) { x.tables.prompts.keyEnds = x.tables.prompts.keyEnds.to(at::kLong); },
            "prompts.keyEnds must be a contiguous tensor of Int");
    refused([](auto& x) { x.args.mask = MaskKind::Full; }, "a full mask has no cached form");
    refused([](auto& x) { x.pages.value = x.pages.value.slice(3, 1); }, "the blocks of value must be");
    refused([](auto& x) { x.pages.value = x.pages.value.slice(0, 1); },
            "keys and values must have equal blocks");
    refused([](auto& x) { x.args.positions = x.args.positions.to(at::kInt); },
            "positions must be [1, tokens]");
}

TEST_P(AttentionTablesTest, HostTablesRefuseWhatDoesNotExist) {
    const auto refused = [&](const std::function<void(Call&)>& spoil, const std::string& part) {
        Call call = makeCall(kForms[0], {}, {{40, 1}, {0, 70}});
        spoil(call);
        expectRefused([&] { moved(call); }, part);
    };
    refused([](Call& call) { call.sequences[3] = 2; }, "sequence 2 of token 3 is not one of the 2");
    refused([](Call& call) { call.args.positions[0][0] = 80; },
            "position 80 is past the sequence's 5 blocks of 16 tokens");
    refused([](Call& call) { call.args.positions[0][0] = -1; }, "position -1 is past");
    refused([](Call& call) { call.args.positions[0][9] = 7; }, "must be consecutive, got 7 after 7");
    refused([](Call& call) { call.blocks[1][2] = -1; }, "block -1 of a sequence is not one of the cache's 8");
    refused([](Call& call) { call.blocks[0][1] = 10; }, "block 10 of a sequence is not one of the cache's 8");
    refused([](Call& call) { call.sequences = call.sequences.to(at::kLong); }, "sequences must be [tokens]");
}

/// However a token's keys are cut into parts, and on each instruction set.
TEST_P(AttentionTablesTest, JoinsPartsOfAnyLength) {
    if (GetParam().device != at::kCPU)
        GTEST_SKIP() << "calls kernels on the CPU's memory";
    Call call = makeCall(kForms[1], {}, {{1600, 1}, {30, 1}, {1023, 1}});
    call.args.sinks = onHost({kForms[1].queryHeads});
    PagedKvView pages;
    const at::Tensor wanted = expected(call, pages);
    const at::Tensor sinks = call.args.sinks->to(at::kDouble);
    for (const Kernels* set : runsCpuKernels() ? cpuKernelSets() : std::vector{&kernels()}) {
        for (const int64_t partKeys : {512, 1024, 1536, 2048}) {
            SCOPED_TRACE(std::string(set->name) + ", " + std::to_string(partKeys));
            at::Tensor output = at::zeros_like(wanted);
            const int64_t parts = (1601 + partKeys - 1) / partKeys;
            const at::ScalarType sums = dtype() == at::kDouble ? at::kDouble : at::kFloat;
            at::Tensor partials = at::full({3, 9, parts, 66}, std::nan(""), at::TensorOptions(sums));
            PagedRowsCall rows;
            rows.dtype = dtype();
            rows.places = {call.args.positions.const_data_ptr<int64_t>(),
                           call.sequences.const_data_ptr<int32_t>(), call.blocks.const_data_ptr<int32_t>(),
                           call.blocks.size(1), 64};
            rows.rows = 3;
            rows.queryHeads = 9;
            rows.kvHeads = 3;
            rows.width = rows.valueWidth = 64;
            rows.query = call.args.query.const_data_ptr();
            rows.key = pages.key.const_data_ptr();
            rows.value = pages.value.const_data_ptr();
            rows.output = output.mutable_data_ptr();
            rows.queryStrides[0] = 64;
            rows.queryStrides[1] = 576;
            for (int dim = 0; dim < 3; ++dim)
                rows.keyStrides[dim] = rows.valueStrides[dim] = pages.key.stride(dim);
            rows.scale = 0.2;
            rows.sinks = sinks.const_data_ptr<double>();
            rows.partKeys = partKeys;
            rows.parts = parts;
            rows.partials = parts > 1 ? partials.mutable_data_ptr() : nullptr;
            set->pagedRows(rows);
            testing::expectCloseSums(output, wanted);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Everywhere, AttentionTablesTest, ::testing::ValuesIn(testing::allPlaces()),
                         testing::whereName);

TEST(PagedPlan, SeesWhatThePlanOfASpanSees) {
    for (const auto& [mask, window] :
         {std::pair{MaskKind::Causal, 0}, {MaskKind::Sliding, 5}, {MaskKind::Chunked, 4}}) {
        AttentionCall call;
        call.mask = mask;
        call.window = window;
        for (int64_t position = 0; position < 30; ++position) {
            const AttentionSpan span{1, position + 1, position};
            EXPECT_EQ(visibleAt(mask, window, position).begin, visibleKeys(call, span, 0).begin);
            EXPECT_EQ(visibleAt(mask, window, position).end, visibleKeys(call, span, 0).end);
        }
    }
}

TEST(PagedPlan, HasFewerAndLongerPartsWhereThereAreManyTokens) {
    EXPECT_EQ(pagedPartKeys(1, 32, 10), kPagedPart);
    EXPECT_EQ(pagedPartKeys(1, 32, 100000), kPagedPart);
    EXPECT_EQ(pagedPartKeys(64, 32, 100000), 3584); // 31 parts fit, 3226 keys each
    EXPECT_EQ(pagedPartKeys(8192, 32, 1500), 1536); // one part
    EXPECT_EQ(pagedPartKeys(0, 32, 100), kPagedPart);
    for (const int64_t rows : {1, 7, 300, 5000})
        for (const int64_t keys : {1, 512, 513, 40000000})
            EXPECT_LE(rows * 8 * partsWith({0, keys}, pagedPartKeys(rows, 8, keys)), kMostPartials);
}

TEST(FlashKnows, OnlyWhatFlashAttentionComputes) {
    const auto argsWith = [](at::ScalarType dtype, int64_t width, int64_t valueWidth) {
        AttentionArgs args;
        args.query = at::zeros({1, 4, 2, width}, dtype);
        args.key = at::zeros({1, 2, 2, width}, dtype);
        args.value = at::zeros({1, 2, 2, valueWidth}, dtype);
        return args;
    };
    for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf})
        for (const int64_t width : {8, 64, 72, 256})
            EXPECT_TRUE(flashKnows(argsWith(dtype, width, width)));
    EXPECT_FALSE(flashKnows(argsWith(at::kFloat, 64, 64)));
    EXPECT_FALSE(flashKnows(argsWith(at::kDouble, 64, 64)));
    EXPECT_FALSE(flashKnows(argsWith(at::kHalf, 64, 32)));
    EXPECT_FALSE(flashKnows(argsWith(at::kHalf, 20, 20)));
    EXPECT_FALSE(flashKnows(argsWith(at::kHalf, 264, 264)));
    const auto changed = [&](const std::function<void(AttentionArgs&)>& change) {
        AttentionArgs args = argsWith(at::kBFloat16, 64, 64);
        change(args);
        return flashKnows(args);
    };
    EXPECT_TRUE(changed([](AttentionArgs& args) { args.mask = MaskKind::Sliding; }));
    EXPECT_FALSE(changed([](AttentionArgs& args) { args.mask = MaskKind::Chunked; }));
    EXPECT_FALSE(changed([](AttentionArgs& args) { args.softcap = 30; }));
    EXPECT_FALSE(changed([](AttentionArgs& args) { args.sinks = at::zeros({4}); }));
    EXPECT_FALSE(changed([](AttentionArgs& args) { args.slopes = at::zeros({4}); }));
}

} // namespace
} // namespace workbench::ops
