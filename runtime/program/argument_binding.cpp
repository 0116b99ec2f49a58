#include "runtime/program/argument_binding.h"

#include "runtime/program/scalar_types.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/List.h>
#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace workbench {
namespace {

using Slot = BoundNode::Slot;
using c10::TypeKind;

struct Wanted {
    TypeKind kind;
    TypeKind element; ///< of a list; AnyType otherwise
    bool optionalElement = false;
    bool optional = false;
};

Wanted describe(const c10::Type& type) {
    if (type.kind() == TypeKind::OptionalType) {
        Wanted inner = describe(*type.containedType(0));
        inner.optional = true;
        return inner;
    }
    if (type.kind() != TypeKind::ListType)
        return {type.kind(), TypeKind::AnyType};
    const c10::Type& element = *type.containedType(0);
    if (element.kind() == TypeKind::OptionalType)
        return {TypeKind::ListType, element.containedType(0)->kind(), true};
    return {TypeKind::ListType, element.kind()};
}

Error mismatch(const c10::Type& type) {
    return Error{
        ErrorCode::badInput, "should be of type " + type.str() + ", but the graph holds something else.", {}};
}

ArgumentBinding constant(c10::IValue value) {
    return {std::move(value), std::nullopt};
}

bool isInteger(TypeKind kind) {
    return kind == TypeKind::IntType || kind == TypeKind::SymIntType;
}

Slot tensorSlot(Slot::Kind kind, std::vector<ValueId> values) {
    Slot slot{.kind = kind, .values = std::move(values)};
    slot.last.resize(slot.values.size());
    return slot;
}

/// Binds one argument's value; one overload for each alternative of ArgumentValue.
class Binder {
public:
    Binder(const c10::Type& type, SymTable& symbols, c10::Device device)
        : m_type(type), m_wanted(describe(type)), m_symbols(symbols), m_device(device) {}

    Result<ArgumentBinding> operator()(const None&) const {
        if (!m_wanted.optional)
            return Error{ErrorCode::badInput, "is none, but must be a " + m_type.str() + ".", {}};
        return constant(c10::IValue());
    }

    Result<ArgumentBinding> operator()(bool value) const { return number(value, TypeKind::BoolType); }
    Result<ArgumentBinding> operator()(double value) const { return number(value, TypeKind::FloatType); }

    Result<ArgumentBinding> operator()(const SymInt& value) const {
        if (m_wanted.kind == TypeKind::ListType)
            return (*this)(std::vector<SymInt>{value});
        if (m_wanted.kind == TypeKind::TensorType && value.isConstant())
            return constant(at::native::wrapped_scalar_tensor(value.constant()));
        if (m_wanted.kind == TypeKind::FloatType && value.isConstant())
            return constant(static_cast<double>(value.constant()));
        const bool tensor = m_wanted.kind == TypeKind::TensorType;
        if (!tensor && !isInteger(m_wanted.kind) && m_wanted.kind != TypeKind::NumberType)
            return mismatch(m_type);
        if (value.isConstant())
            return constant(value.constant());
        Slot slot{.kind = tensor ? Slot::Kind::integerTensor : Slot::Kind::integer,
                  .integers = {m_symbols.add(value)}};
        return ArgumentBinding{{}, std::move(slot)};
    }

    Result<ArgumentBinding> operator()(const std::string& value) const {
        return m_wanted.kind == TypeKind::StringType ? constant(value)
                                                     : Result<ArgumentBinding>(mismatch(m_type));
    }

    Result<ArgumentBinding> operator()(ScalarType value) const {
        // A schema's real type tells ScalarType, Layout and MemoryFormat apart from int; as values all are
        // ints.
        if (m_wanted.kind != TypeKind::ScalarTypeType && !isInteger(m_wanted.kind))
            return mismatch(m_type);
        return constant(static_cast<std::int64_t>(toTorch(value)));
    }

    Result<ArgumentBinding> operator()(const Keyword& value) const {
        switch (value.kind) {
        case Keyword::Kind::layout:
            return layout(value.name);
        case Keyword::Kind::device:
            return device(value.name);
        case Keyword::Kind::memoryFormat:
            return memoryFormat(value.name);
        }
        __builtin_unreachable();
    }

    Result<ArgumentBinding> operator()(const ValueRef& value) const {
        if (m_wanted.kind == TypeKind::ListType && m_wanted.element == TypeKind::TensorType)
            return (*this)(std::vector<ValueRef>{value});
        if (m_wanted.kind != TypeKind::TensorType)
            return mismatch(m_type);
        return ArgumentBinding{{}, tensorSlot(Slot::Kind::tensor, {value.id})};
    }

    Result<ArgumentBinding> operator()(const std::vector<ValueRef>& values) const {
        if (m_wanted.kind != TypeKind::ListType || m_wanted.element != TypeKind::TensorType)
            return mismatch(m_type);
        std::vector<ValueId> ids;
        for (const ValueRef& value : values)
            ids.push_back(value.id);
        if (!m_wanted.optionalElement && std::find(ids.begin(), ids.end(), kNone) != ids.end())
            return Error{ErrorCode::badInput, "has an absent tensor in a list that must not have any.", {}};
        return ArgumentBinding{
            {},
            tensorSlot(m_wanted.optionalElement ? Slot::Kind::optionalTensorList : Slot::Kind::tensorList,
                       std::move(ids))};
    }

    Result<ArgumentBinding> operator()(const std::vector<SymInt>& values) const {
        if (m_wanted.kind != TypeKind::ListType)
            return mismatch(m_type);
        if (values.empty())
            return emptyList();
        const bool allConstant =
            std::all_of(values.begin(), values.end(), [](const SymInt& v) { return v.isConstant(); });
        if (m_wanted.element == TypeKind::FloatType && allConstant) {
            std::vector<double> floats;
            for (const SymInt& value : values)
                floats.push_back(static_cast<double>(value.constant()));
            return (*this)(floats);
        }
        if (!isInteger(m_wanted.element))
            return mismatch(m_type);
        if (!allConstant) {
            Slot slot{.kind = Slot::Kind::integerList};
            for (const SymInt& value : values)
                slot.integers.push_back(m_symbols.add(value));
            return ArgumentBinding{{}, std::move(slot)};
        }
        c10::List<std::int64_t> list;
        for (const SymInt& value : values)
            list.push_back(value.constant());
        return constant(list);
    }

    Result<ArgumentBinding> operator()(const std::vector<double>& values) const {
        return list<double>(values, TypeKind::FloatType);
    }
    Result<ArgumentBinding> operator()(const std::vector<bool>& values) const {
        return list<bool>(values, TypeKind::BoolType);
    }

private:
    template <typename T>
    Result<ArgumentBinding> number(T value, TypeKind own) const {
        if (m_wanted.kind == own || m_wanted.kind == TypeKind::NumberType)
            return constant(value);
        if (m_wanted.kind == TypeKind::TensorType)
            return constant(at::native::wrapped_scalar_tensor(value));
        return mismatch(m_type);
    }

    template <typename T>
    Result<ArgumentBinding> list(const std::vector<T>& values, TypeKind element) const {
        if (m_wanted.kind != TypeKind::ListType || m_wanted.element != element)
            return mismatch(m_type);
        c10::List<T> list;
        for (const T value : values)
            list.push_back(value);
        return constant(list);
    }

    /// The text form cannot tell what an empty list holds; the schema can.
    Result<ArgumentBinding> emptyList() const {
        switch (m_wanted.element) {
        case TypeKind::TensorType:
            return (*this)(std::vector<ValueRef>{});
        case TypeKind::FloatType:
            return constant(c10::List<double>());
        case TypeKind::BoolType:
            return constant(c10::List<bool>());
        default:
            return isInteger(m_wanted.element) ? constant(c10::List<std::int64_t>())
                                               : Result<ArgumentBinding>(mismatch(m_type));
        }
    }

    Result<ArgumentBinding> layout(const std::string& name) const {
        if (m_wanted.kind != TypeKind::LayoutType && !isInteger(m_wanted.kind))
            return mismatch(m_type);
        if (name != "strided")
            return Error{ErrorCode::badInput,
                         "asks for the layout '" + name + "', but only strided tensors are run.",
                         {}};
        return constant(static_cast<std::int64_t>(at::kStrided));
    }

    /// Programs run on the device that they were placed on, wherever the graph was traced.
    Result<ArgumentBinding> device(const std::string&) const {
        return m_wanted.kind == TypeKind::DeviceObjType ? constant(m_device)
                                                        : Result<ArgumentBinding>(mismatch(m_type));
    }

    Result<ArgumentBinding> memoryFormat(const std::string& name) const {
        if (m_wanted.kind != TypeKind::MemoryFormatType && !isInteger(m_wanted.kind))
            return mismatch(m_type);
        for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::Preserve,
                                  at::MemoryFormat::ChannelsLast, at::MemoryFormat::ChannelsLast3d})
            if (name == kFormatNames[static_cast<std::size_t>(format)])
                return constant(static_cast<std::int64_t>(format));
        return Error{ErrorCode::badInput, "asks for the unknown memory format '" + name + "'.", {}};
    }

    static constexpr const char* kFormatNames[] = {"contiguous_format", "preserve_format", "channels_last",
                                                   "channels_last_3d"};

    const c10::Type& m_type;
    Wanted m_wanted;
    SymTable& m_symbols;
    c10::Device m_device;
};

} // namespace

Result<ArgumentBinding> bindArgument(const ArgumentValue& value, const c10::Type& type, SymTable& symbols,
                                     c10::Device device) {
    return std::visit(Binder(type, symbols, device), value);
}

} // namespace workbench
