#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inspect/head_statistics.h"
#include "inspect/tables.h"
#include "inspect/weight_map.h"

namespace synthesizer {

struct OpenRun;

struct InspectOptions {
  std::string text, target;  ///< no text: some lines of the dev split
  int64_t lines = 16;        ///< of dev, at most
  int64_t shown = 64;        ///< rows and columns of tables that are kept to show
};

/// One attention: the numbers over all texts, the weights of the one that is shown.
struct InspectedLayer {
  CapturedLayer captured;
  std::vector<HeadStatistics> numbers;   ///< a head
  WeightHistogram histogram;             ///< of all its heads
  std::optional<WeightHistogram> start;  ///< the same before training; none where that is not known
};

/// Two heads of one stack that do the same.
struct HeadPair {
  size_t first_layer, first_head;  ///< the layer as a place in Inspection::layers
  size_t second_layer, second_head;
  double difference;  ///< see HeadDifference
};

/// How one layer weighs its members, at a step of training; step -1: as the weights at hand have it.
struct MixtureAt {
  int64_t step = -1;
  std::string layer;
  std::vector<std::vector<double>> shares;  ///< one row for the layer, or one per head
};

/// The result of inspecting a trained run: plain values, for pictures, pages and JSON.
struct Inspection {
  std::string run, task, attention;
  std::string text, target;                 ///< that is shown; empty where it is a stretch of running text
  std::string from;                         ///< "--text", or "dev"
  int64_t texts = 0;                        ///< that the numbers are means over
  std::vector<std::string> encoder_tokens;  ///< of the text that is shown; empty where there is no such side
  std::vector<std::string> decoder_tokens;
  std::vector<InspectedLayer> layers;          ///< those with weights: encoder, decoder, cross
  std::vector<CapturedLayer> without_weights;  ///< named, and left out
  std::vector<HeadPair> identical;
  std::vector<RandomTable> tables;
  bool start_known = true;                                ///< of the weights before training
  std::vector<std::vector<std::string>> mixture_members;  ///< of each entry of mixtures
  std::vector<MixtureAt> mixtures;                        ///< now
  std::vector<MixtureAt> mixtures_over_training;          ///< from metrics.jsonl, in the order of its lines
};

/// Inspects a run. Throws InvalidInput where a text is empty or too long, and where there is neither a text
/// nor a dev split.
Inspection inspect_run(const OpenRun& run, const InspectOptions& options);

/// A handful of lines that say what stands out.
std::vector<std::string> summary_of(const Inspection& inspection);

}  // namespace synthesizer
