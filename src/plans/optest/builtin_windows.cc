// Convolution and pooling over NCHW tensors.
#include <algorithm>
#include <limits>

#include "plans/optest/builtin_operators.h"

namespace assay::optest {
namespace {

// "same": as many outputs as strides fit into the input; the odd one of the padding comes after.
void pad_same(Sliding& s) {
  const std::int64_t outputs = (s.input + s.stride - 1) / s.stride;
  const std::int64_t padding =
      std::max<std::int64_t>(0, (outputs - 1) * s.stride + s.span() - s.input);
  s.before = padding / 2;
  s.after = padding - s.before;
}

void want_sensible(const Sliding& s, const char* what) {
  if (s.window < 1 || s.stride < 1 || s.dilation < 1 || s.before < 0 || s.after < 0) {
    throw ReferenceFault(std::string(what) +
                         ": window, stride and dilation are at least 1, padding at least 0");
  }
}

struct Window {
  Sliding rows{};
  Sliding columns{};
};

// Of the operators that have `kernel_size`.
Window pooling_window(const Call& call) {
  call.want_inputs(1, 1);
  call.want_dimensions(0, 4);
  if (!call.params.contains("kernel_size")) throw ReferenceFault("needs params.kernel_size");
  const auto& extents = call.input(0).shape.extents;
  const auto size = call.pair("kernel_size", 1);
  const auto stride = call.params.contains("stride") ? call.pair("stride", 1) : size;
  const auto dilation = call.pair("dilation", 1);
  Window window{.rows = {.input = extents[2],
                         .window = size.first,
                         .stride = stride.first,
                         .dilation = dilation.first},
                .columns = {.input = extents[3],
                            .window = size.second,
                            .stride = stride.second,
                            .dilation = dilation.second}};
  read_padding(call, window.rows, window.columns);
  return window;
}

// `visit(row, column)` for every input under the window of output (r, c); padding is not visited.
template <typename Visit>
void under_window(const Window& w, std::int64_t r, std::int64_t c, Visit visit) {
  for (std::int64_t i = 0; i < w.rows.window; ++i) {
    const std::int64_t row = r * w.rows.stride - w.rows.before + i * w.rows.dilation;
    if (row < 0 || row >= w.rows.input) continue;
    for (std::int64_t j = 0; j < w.columns.window; ++j) {
      const std::int64_t column = c * w.columns.stride - w.columns.before + j * w.columns.dilation;
      if (column >= 0 && column < w.columns.input) visit(row, column);
    }
  }
}

// `pool(plane of the input, row, column of the output)` makes each element.
template <typename Pool>
Numbers pooled(const Call& call, const Window& w, bool is_integral, Pool pool) {
  const auto& extents = call.input(0).shape.extents;
  const std::int64_t rows = w.rows.outputs();
  const std::int64_t columns = w.columns.outputs();
  Numbers out = zeros({.extents = {extents[0], extents[1], rows, columns}}, is_integral);
  std::uint64_t at = 0;
  for (std::int64_t plane = 0; plane < extents[0] * extents[1]; ++plane) {
    const auto base = static_cast<std::uint64_t>(plane * w.rows.input * w.columns.input);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) pool(out, at++, base, r, c);
    }
  }
  return out;
}

struct Convolution {
  Window window{};
  std::int64_t groups = 1;
  std::int64_t images = 0;
  std::int64_t in_channels = 0;  // of one group
  std::int64_t out_channels = 0;
};

Convolution convolution_of(const Call& call) {
  call.want_inputs(2, 3);
  call.want_dimensions(0, 4);
  call.want_dimensions(1, 4);
  const auto& x = call.input(0).shape.extents;
  const auto& weights = call.input(1).shape.extents;
  const auto stride = call.pair("stride", 1);
  const auto dilation = call.pair("dilation", 1);
  Convolution conv{.window = {.rows = {.input = x[2],
                                       .window = weights[2],
                                       .stride = stride.first,
                                       .dilation = dilation.first},
                              .columns = {.input = x[3],
                                          .window = weights[3],
                                          .stride = stride.second,
                                          .dilation = dilation.second}},
                   .groups = call.integer("groups", 1),
                   .images = x[0],
                   .in_channels = weights[1],
                   .out_channels = weights[0]};
  if (conv.groups < 1 || x[1] != weights[1] * conv.groups || weights[0] % conv.groups != 0) {
    throw ReferenceFault("conv2d: " + std::to_string(x[1]) + " channels and weights " +
                         call.input(1).shape.text() + " do not go into " +
                         std::to_string(conv.groups) + " groups");
  }
  if (call.inputs.size() == 3 &&
      call.input(2).size() != static_cast<std::uint64_t>(conv.out_channels)) {
    throw ReferenceFault("conv2d: the bias has one element per output channel");
  }
  read_padding(call, conv.window.rows, conv.window.columns);
  return conv;
}

template <typename T, typename Sum>
Sum convolve_at(const Call& call, const Convolution& conv, std::int64_t image, std::int64_t channel,
                std::int64_t r, std::int64_t c) {
  const Window& w = conv.window;
  const T* x = elements<T>(call.input(0)).data();
  const T* weights = elements<T>(call.input(1)).data();
  const std::int64_t first = channel / (conv.out_channels / conv.groups) * conv.in_channels;
  Sum sum = call.inputs.size() == 3
                ? static_cast<Sum>(elements<T>(call.input(2))[static_cast<std::size_t>(channel)])
                : Sum{};
  for (std::int64_t k = 0; k < conv.in_channels; ++k) {
    const T* plane =
        x + (image * conv.in_channels * conv.groups + first + k) * w.rows.input * w.columns.input;
    const T* taps = weights + (channel * conv.in_channels + k) * w.rows.window * w.columns.window;
    for (std::int64_t i = 0; i < w.rows.window; ++i) {
      const std::int64_t row = r * w.rows.stride - w.rows.before + i * w.rows.dilation;
      if (row < 0 || row >= w.rows.input) continue;
      for (std::int64_t j = 0; j < w.columns.window; ++j) {
        const std::int64_t column =
            c * w.columns.stride - w.columns.before + j * w.columns.dilation;
        if (column < 0 || column >= w.columns.input) continue;
        sum += static_cast<Sum>(plane[row * w.columns.input + column]) *
               static_cast<Sum>(taps[i * w.columns.window + j]);
      }
    }
  }
  return sum;
}

}  // namespace

std::int64_t Sliding::outputs() const {
  const std::int64_t room = input + before + after - span();
  if (room < 0) {
    throw ReferenceFault("a window of " + std::to_string(span()) + " does not fit into " +
                         std::to_string(input + before + after));
  }
  return room / stride + 1;
}

void read_padding(const Call& call, Sliding& rows, Sliding& columns) {
  want_sensible(rows, "rows");
  want_sensible(columns, "columns");
  const auto padding = call.params.find("padding");
  if (padding == call.params.end() || padding->is_null() || *padding == "valid") return;
  if (*padding == "same") {
    pad_same(rows);
    pad_same(columns);
    return;
  }
  const bool four = padding->is_array() && padding->size() == 4 &&
                    std::all_of(padding->begin(), padding->end(),
                                [](const auto& one) { return one.is_number_integer(); });
  if (four) {
    rows.before = padding->at(0).get<std::int64_t>();
    rows.after = padding->at(1).get<std::int64_t>();
    columns.before = padding->at(2).get<std::int64_t>();
    columns.after = padding->at(3).get<std::int64_t>();
  } else {
    const auto both = call.pair("padding", 0);
    rows.before = rows.after = both.first;
    columns.before = columns.after = both.second;
  }
  want_sensible(rows, "rows");
  want_sensible(columns, "columns");
}

Numbers conv2d(const Call& call) {
  const Convolution conv = convolution_of(call);
  const std::int64_t rows = conv.window.rows.outputs();
  const std::int64_t columns = conv.window.columns.outputs();
  return in_arithmetic(call, [&](auto element, auto sum) {
    using T = decltype(element);
    Numbers out =
        zeros({.extents = {conv.images, conv.out_channels, rows, columns}}, call.is_integral());
    std::uint64_t at = 0;
    for (std::int64_t image = 0; image < conv.images; ++image) {
      for (std::int64_t channel = 0; channel < conv.out_channels; ++channel) {
        for (std::int64_t i = 0; i < rows * columns; ++i) {
          elements<T>(out)[at++] = static_cast<T>(
              convolve_at<T, decltype(sum)>(call, conv, image, channel, i / columns, i % columns));
        }
      }
    }
    return out;
  });
}

// Padding is never the maximum; a window of nothing but padding has none.
Numbers maxpool2d(const Call& call) {
  const Window w = pooling_window(call);
  const Numbers& in = call.input(0);
  return pooled(call, w, in.is_integral,
                [&](Numbers& out, std::uint64_t at, std::uint64_t base, auto r, auto c) {
                  std::int64_t whole = std::numeric_limits<std::int64_t>::min();
                  double real = -std::numeric_limits<double>::infinity();
                  bool any = false;
                  under_window(w, r, c, [&](std::int64_t row, std::int64_t column) {
                    const auto i =
                        base + static_cast<std::uint64_t>(row * w.columns.input + column);
                    any = true;
                    if (in.is_integral)
                      whole = std::max(whole, in.integers[i]);
                    else if (in.reals[i] > real || in.reals[i] != in.reals[i])
                      real = in.reals[i];
                  });
                  if (!any) throw ReferenceFault("maxpool2d: a window lies on padding alone");
                  if (in.is_integral)
                    out.integers[at] = whole;
                  else
                    out.reals[at] = real;
                });
}

// The mean of what is there; with count_include_pad padding counts as zeros.
Numbers avgpool2d(const Call& call) {
  const Window w = pooling_window(call);
  const Numbers& in = call.input(0);
  const bool count_padding = call.flag("count_include_pad", false);
  return pooled(
      call, w, false, [&](Numbers& out, std::uint64_t at, std::uint64_t base, auto r, auto c) {
        long double sum = 0;
        std::int64_t count = 0;
        under_window(w, r, c, [&](std::int64_t row, std::int64_t column) {
          sum += in.real(base + static_cast<std::uint64_t>(row * w.columns.input + column));
          ++count;
        });
        if (count_padding) count = w.rows.window * w.columns.window;
        if (count == 0) throw ReferenceFault("avgpool2d: a window lies on padding alone");
        out.reals[at] = static_cast<double>(sum / static_cast<long double>(count));
      });
}

}  // namespace assay::optest
