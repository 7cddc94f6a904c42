// The operator as the dispatcher sees it: schemas, kernels for CPU, Meta and everything else, and autograd.
//
//     synthesizer::attend            what people call
//     synthesizer::attend_forward    the same, and what backward wants to see again
//     synthesizer::attend_backward   all gradients at once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>

#include "attention/kernel/attend.h"
#include "attention/kernel/paths.h"
#include "attention/kernel/plain.h"
#include "attention/kernel/registration.h"
#include "base/error.h"

namespace synthesizer {

using MaybeTensor = std::optional<at::Tensor>;

namespace kernel {
namespace {

using GradientList = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor,
                                at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

// The arguments that describe a problem, in the order of the schema. Written once; whoever takes them packs
// them into a Problem at once.
#define PROBLEM_SCHEMA                                                                    \
  "Tensor? query, Tensor? key, float scale, Tensor? row, Tensor? column, Tensor? table, " \
  "Tensor? left, Tensor? right, bool tile, Tensor value, Tensor? row_lengths, "           \
  "Tensor? column_lengths, bool causal, float dropout, int seed"
// Those with a default, as people may leave them out. `drawn` is one int64 that is added to the seed.
#define PROBLEM_DEFAULTS ", int? rows=None, Tensor? table_scale=None, Tensor? bias=None, Tensor? drawn=None"
#define PROBLEM_ARGUMENTS                                                                           \
  const MaybeTensor &query, const MaybeTensor &key, double scale, const MaybeTensor &row,           \
      const MaybeTensor &column, const MaybeTensor &table, const MaybeTensor &left,                 \
      const MaybeTensor &right, bool tile, const at::Tensor &value, const MaybeTensor &row_lengths, \
      const MaybeTensor &column_lengths, bool causal, double dropout, int64_t seed,                 \
      std::optional<int64_t> rows, const MaybeTensor &table_scale, const MaybeTensor &bias,         \
      const MaybeTensor &drawn
#define PROBLEM_FROM_ARGUMENTS                                                                        \
  Problem {                                                                                           \
    {query.value_or(at::Tensor()),                                                                    \
     key.value_or(at::Tensor()),                                                                      \
     scale,                                                                                           \
     row.value_or(at::Tensor()),                                                                      \
     column.value_or(at::Tensor()),                                                                   \
     table.value_or(at::Tensor()),                                                                    \
     table_scale.value_or(at::Tensor()),                                                              \
     left.value_or(at::Tensor()),                                                                     \
     right.value_or(at::Tensor()),                                                                    \
     tile,                                                                                            \
     rows,                                                                                            \
     bias.value_or(at::Tensor())},                                                                    \
        {causal, row_lengths.value_or(at::Tensor()), column_lengths.value_or(at::Tensor())}, value, { \
      dropout, seed, drawn.value_or(at::Tensor())                                                     \
    }                                                                                                 \
  }

template <auto Function>
auto from_arguments(PROBLEM_ARGUMENTS) {
  return Function(PROBLEM_FROM_ARGUMENTS);
}

template <auto Function>
auto from_arguments_backward(const at::Tensor& grad, const at::Tensor& result, const at::Tensor& saved,
                             PROBLEM_ARGUMENTS, std::array<bool, 10> wanted) {
  return Function(PROBLEM_FROM_ARGUMENTS, grad, result, saved,
                  {wanted[0], wanted[1], wanted[2], wanted[3], wanted[4], wanted[5], wanted[6], wanted[7],
                   wanted[8], wanted[9]});
}

MaybeTensor maybe(const at::Tensor& t) {
  return t.defined() ? MaybeTensor(t) : std::nullopt;
}

/// Calls body(…) with the problem's arguments in the order of the schema, after those in front.
template <class Body, class... Front>
auto with_arguments(const Problem& p, const Body& body, Front&&... front) {
  const Logits& l = p.logits;
  return body(std::forward<Front>(front)..., maybe(l.query), maybe(l.key), l.scale, maybe(l.row),
              maybe(l.column), maybe(l.table), maybe(l.left), maybe(l.right), l.tile, p.value,
              maybe(p.mask.row_lengths), maybe(p.mask.column_lengths), p.mask.causal, p.dropout.probability,
              p.dropout.seed, l.rows, maybe(l.table_scale), maybe(l.bias), maybe(p.dropout.drawn));
}

// --- CPU, and any other device by plain ATen ---

bool block_code_serves(const Problem& p) {
  return p.value.is_cpu() && p.value.scalar_type() != at::kDouble;
}

/// The seed with what was drawn for it, which can be read now.
Problem with_drawn_seed(Problem p) {
  const auto drawn = static_cast<uint64_t>(p.dropout.drawn.item<int64_t>());
  p.dropout.seed = static_cast<int64_t>(static_cast<uint64_t>(p.dropout.seed) + drawn);
  p.dropout.drawn = at::Tensor();
  return p;
}

Result attend_forward(const Problem& p) {
  if (p.dropout.drawn.defined()) return attend_forward(with_drawn_seed(p));
  p.check();
  if (!block_code_serves(p)) return plain_forward(p);
  return p.logits.global() ? global_forward(p) : fused_forward(p);
}

at::Tensor forward_result(const Problem& p) {
  return std::get<0>(attend_forward(p));
}

/// Gradients are laid out as their inputs, which the Meta kernel promises too.
at::Tensor laid_out_as(const at::Tensor& input, bool wanted, const at::Tensor& gradient) {
  if (!wanted || !input.defined()) return {};
  const auto promised = at::empty_like(input, input.options().device(at::kMeta));
  if (gradient.scalar_type() == input.scalar_type() && gradient.strides() == promised.strides()) {
    return gradient;
  }
  auto result = at::empty_like(input);
  result.copy_(gradient);
  return result;
}

GradientList attend_backward(const Problem& p, const at::Tensor& grad, const at::Tensor& result,
                             const at::Tensor& saved, const NeededGradients& w) {
  if (p.dropout.drawn.defined()) return attend_backward(with_drawn_seed(p), grad, result, saved, w);
  p.check();
  const Logits& l = p.logits;
  Gradients g;
  if (!block_code_serves(p)) {
    g = plain_backward(p, grad, w);
  } else if (l.global()) {
    g = global_backward(p, grad, result, w);
  } else {
    g = fused_backward(p, grad, result, saved, w);
  }
  return {laid_out_as(l.query, w.query, g.query),
          laid_out_as(l.key, w.key, g.key),
          laid_out_as(l.row, w.row, g.row),
          laid_out_as(l.column, w.column, g.column),
          laid_out_as(l.table, w.table, g.table),
          laid_out_as(l.left, w.left, g.left),
          laid_out_as(l.right, w.right, g.right),
          laid_out_as(p.value, w.value, g.value),
          laid_out_as(l.table_scale, w.table_scale, g.table_scale),
          laid_out_as(l.bias, w.bias, g.bias)};
}

// --- Meta: shapes alone, which may be symbols ---

c10::SymInt symbolic_rows(const Problem& p) {
  const Logits& l = p.logits;
  for (const at::Tensor* t : {&l.query, &l.row, &l.left, &l.bias}) {
    if (t->defined()) return t->sym_size(-2);
  }
  if (l.table.defined() && l.table.sym_size(1) != 1) return l.table.sym_size(1);
  return l.rows ? c10::SymInt(*l.rows) : p.value.sym_size(2);
}

at::Tensor meta_result(const Problem& p) {
  return at::empty_symint({p.value.sym_size(0), symbolic_rows(p), p.value.sym_size(1), p.value.sym_size(3)},
                          p.value.options())
      .transpose(1, 2);
}

Result meta_attend_forward(const Problem& p) {
  auto wide = p.value.options().dtype(p.value.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
  auto saved = p.logits.global()
                   ? at::empty({0}, wide)
                   : at::empty_symint({p.value.sym_size(0), p.value.sym_size(1), symbolic_rows(p)}, wide);
  return {meta_result(p), saved};
}

GradientList meta_attend_backward(const Problem& p, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                  const NeededGradients& w) {
  auto like = [](bool wanted, const at::Tensor& t) {
    return wanted && t.defined() ? at::empty_like(t) : at::Tensor();
  };
  const Logits& l = p.logits;
  return {like(w.query, l.query),   like(w.key, l.key),     like(w.row, l.row),
          like(w.column, l.column), like(w.table, l.table), like(w.left, l.left),
          like(w.right, l.right),   like(w.value, p.value), like(w.table_scale, l.table_scale),
          like(w.bias, l.bias)};
}

// --- Autograd ---

Result call_forward(const Problem& p) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("synthesizer::attend_forward", "")
                             .typed<Result(PROBLEM_ARGUMENTS)>();
  return with_arguments(p, [](const auto&... a) { return op.call(a...); });
}

GradientList call_backward(const Problem& p, const at::Tensor& grad, const at::Tensor& result,
                           const at::Tensor& saved, const std::array<bool, 10>& wanted) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("synthesizer::attend_backward", "")
                             .typed<GradientList(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                                 PROBLEM_ARGUMENTS, std::array<bool, 10>)>();
  return with_arguments(
      p, [&](const auto&... a) { return op.call(a..., wanted); }, grad, result, saved);
}

class AttendFunction : public torch::autograd::Function<AttendFunction> {
 public:
  // The ten differentiable tensors come one by one, since autograd looks for tensors among the arguments;
  // the problem has them too.
  static at::Tensor forward(torch::autograd::AutogradContext* context, const MaybeTensor&, const MaybeTensor&,
                            const MaybeTensor&, const MaybeTensor&, const MaybeTensor&, const MaybeTensor&,
                            const MaybeTensor&, const at::Tensor&, const MaybeTensor&, const MaybeTensor&,
                            const Problem& p) {
    at::AutoDispatchBelowADInplaceOrView guard;
    auto [result, saved] = call_forward(p);
    const Logits& l = p.logits;
    context->save_for_backward({l.query, l.key, l.row, l.column, l.table, l.left, l.right, p.value,
                                l.table_scale, l.bias, p.mask.row_lengths, p.mask.column_lengths, result,
                                saved, p.dropout.drawn});
    context->saved_data["scale"] = p.logits.scale;
    context->saved_data["tile"] = p.logits.tile;
    context->saved_data["rows"] = p.logits.rows;
    context->saved_data["causal"] = p.mask.causal;
    context->saved_data["dropout"] = p.dropout.probability;
    context->saved_data["seed"] = p.dropout.seed;
    return result;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& grads) {
    auto s = context->get_saved_variables();
    auto& data = context->saved_data;
    const Problem p{{s[0], s[1], data["scale"].toDouble(), s[2], s[3], s[4], s[8], s[5], s[6],
                     data["tile"].toBool(), data["rows"].toOptional<int64_t>(), s[9]},
                    {data["causal"].toBool(), s[10], s[11]},
                    s[7],
                    {data["dropout"].toDouble(), data["seed"].toInt(), s[14]}};
    std::array<bool, 10> wanted{};
    for (size_t i = 0, input = 0; i < wanted.size(); ++i) {  // absent tensors are not among the inputs
      if (s[i].defined()) wanted[i] = context->needs_input_grad(input++);
    }
    auto [query, key, row, column, table, left, right, value, table_scale, bias] =
        call_backward(p, grads[0], s[12], s[13], wanted);
    return {query, key, row, column, table, left, right, value, table_scale, bias, at::Tensor()};
  }
};

at::Tensor autograd_attend(const Problem& p) {
  const Logits& l = p.logits;
  return AttendFunction::apply(maybe(l.query), maybe(l.key), maybe(l.row), maybe(l.column), maybe(l.table),
                               maybe(l.left), maybe(l.right), p.value, maybe(l.table_scale), maybe(l.bias),
                               p);
}

void define_attend(torch::Library& m) {
  m.def("attend(" PROBLEM_SCHEMA PROBLEM_DEFAULTS ") -> Tensor");
  m.def("attend_forward(" PROBLEM_SCHEMA PROBLEM_DEFAULTS ") -> (Tensor, Tensor)");
  m.def("attend_backward(Tensor grad, Tensor result, Tensor saved, " PROBLEM_SCHEMA
        ", int? rows, Tensor? table_scale, Tensor? bias, Tensor? drawn, bool[10] wanted) -> (Tensor, Tensor, "
        "Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)");
}

void add_attend(torch::Library& m) {
  m.impl("attend", TORCH_FN((from_arguments<forward_result>)));
  m.impl("attend_forward", TORCH_FN((from_arguments<attend_forward>)));
  m.impl("attend_backward", TORCH_FN((from_arguments_backward<attend_backward>)));
}

void add_meta_attend(torch::Library& m) {
  m.impl("attend", TORCH_FN((from_arguments<meta_result>)));
  m.impl("attend_forward", TORCH_FN((from_arguments<meta_attend_forward>)));
  m.impl("attend_backward", TORCH_FN((from_arguments_backward<meta_attend_backward>)));
}

void add_autograd_attend(torch::Library& m) {
  m.impl("attend", TORCH_FN((from_arguments<autograd_attend>)));
  // Differentiable once: a second derivative is refused instead of coming out as nothing.
  m.impl("attend_forward", torch::autograd::autogradNotImplementedFallback());
  m.impl("attend_backward", torch::autograd::autogradNotImplementedFallback());
}

const Registration attend_registration("synthesizer::attend", define_attend,
                                       {{c10::DispatchKey::CPU, add_attend},
                                        {c10::DispatchKey::CompositeExplicitAutograd,
                                         add_attend},  // plain, any device
                                        {c10::DispatchKey::Meta, add_meta_attend},
                                        {c10::DispatchKey::Autograd, add_autograd_attend}});

}  // namespace
}  // namespace kernel

at::Tensor attend(const Logits& logits, const Mask& mask, const at::Tensor& value, const Dropout& dropout) {
  const kernel::Problem p{logits, mask, value, dropout};
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("synthesizer::attend", "")
                             .typed<at::Tensor(PROBLEM_ARGUMENTS)>();
  return kernel::with_arguments(p, [](const auto&... a) { return op.call(a...); });
}

at::Tensor attention_weights(const Logits& logits, const Mask& mask) {
  at::Tensor any = logits.table;
  for (const at::Tensor* t : {&logits.query, &logits.row, &logits.left, &logits.bias}) {
    if (t->defined()) any = *t;
  }
  const c10::SymInt columns = logits.key.defined()      ? logits.key.sym_size(2)
                              : logits.column.defined() ? logits.column.sym_size(1)
                              : logits.table.defined()  ? logits.table.sym_size(2)
                                                        : any.sym_size(-2);
  const bool one_for_all = logits.global() && !logits.row.defined() && any.sym_size(-2) == 1;
  const c10::SymInt rows =
      one_for_all ? (logits.rows ? c10::SymInt(*logits.rows) : columns) : any.sym_size(-2);
  return kernel::plain_weights(logits, mask, rows, columns, any).to(any.scalar_type());
}

at::Tensor global_weights(Logits logits, bool causal) {
  const bool one_row = logits.table.defined() && logits.table.size(1) == 1 && !logits.row.defined();
  if (one_row && !logits.rows) logits.rows = logits.table.size(2);
  return kernel::make_global_weights(logits, causal);
}

at::Tensor attend_with_global_weights(const at::Tensor& weights, const Mask& mask, const at::Tensor& value) {
  Logits logits;
  logits.rows = weights.size(1);
  const kernel::Problem p{logits, mask, value, {}};
  p.check();
  if (mask.column_lengths.defined()) {
    invalid("weights made for all columns cannot be used with column lengths");
  }
  return kernel::apply_global_weights(p, weights);
}

}  // namespace synthesizer
