#pragma once

#include <array>
#include <optional>

#include "metric/bleu_tokenizers.h"
#include "metric/metric.h"

namespace synthesizer {

/// BLEU (Papineni et al., 2002) as sacreBLEU computes it: clipped n-gram precisions of orders 1 to 4, their
/// geometric mean times the brevity penalty.
inline constexpr int kBleuOrder = 4;

/// What a precision of 0 becomes: exp halves it for each order met so far, floor puts a small count in its
/// place, add-k adds to the counts of orders 2 to 4 whether 0 or not.
enum class BleuSmoothing { exponential, floor, add_k, none };

/// "exp", "floor", "add-k", "none".
const std::vector<std::string>& bleu_smoothing_names();
BleuSmoothing bleu_smoothing(std::string_view name);

struct BleuOptions {
  BleuTokenizer tokenizer = BleuTokenizer::mteval13a;
  bool lowercase = false;
  BleuSmoothing smoothing = BleuSmoothing::exponential;
  std::optional<double> smoothing_value;  ///< of floor (0.1) and add-k (1)
  /// Orders longer than the text are left out of the mean: what single sentences need.
  bool effective_order = false;
};

/// The value floor and add-k work with; none for the others.
std::optional<double> smoothing_value(const BleuOptions& options);

/// All that BLEU needs to know of a segment. Sums of it are sufficient for any set of segments.
struct BleuCounts {
  int64_t hypothesis_length = 0;
  int64_t reference_length = 0;  ///< of the reference closest in length, the shorter of two
  std::array<int64_t, kBleuOrder> matches{}, totals{};

  BleuCounts& operator+=(const BleuCounts& other);
};

struct Bleu {
  double score = 0;  ///< 0 to 100
  std::array<double, kBleuOrder> precisions{};
  double brevity_penalty = 1;
  double ratio = 0;   ///< of the lengths; 0 where the reference is empty
  BleuCounts counts;  ///< as counted, before smoothing
};

/// Segment by segment. Throws InvalidInput as check_segments does.
std::vector<BleuCounts> bleu_counts(const Segments& hypotheses, const References& references,
                                    const BleuOptions& options = {});

/// From the sum over the segments.
Bleu bleu_from(const BleuCounts& sum, const BleuOptions& options = {});

/// Of a whole corpus.
Bleu bleu(const Segments& hypotheses, const References& references, const BleuOptions& options = {});

/// Of one sentence and its references; with effective_order, whatever the options say.
Bleu sentence_bleu(const std::string& hypothesis, const Segments& references, BleuOptions options = {});

/// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.4.3"
std::string bleu_signature(const BleuOptions& options, size_t references);

/// "BLEU = 36.42 67.1/43.2/30.0/21.1 (BP = 0.985 ratio = 0.986 hyp_len = 12061 ref_len = 12238)"
std::string to_string(const Bleu& bleu);

Metric bleu_metric();

}  // namespace synthesizer
