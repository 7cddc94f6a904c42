#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "run/run_record.h"

namespace synthesizer {

/// A published figure, in the unit of our key: the paper's own (data/paper/tables.json), or one of a later
/// study with the authors' code (data/paper/narang-2021.json).
struct PaperFigure {
  double value = 0;
  std::string data;      ///< "WMT'14 English-German"
  std::string source;    ///< the table it stands in
  bool checked = false;  ///< read in a copy of the table, not in notes on it
};

/// The paper's figure of an attention and a score ("bleu", "perplexity", "parameters", keys as `synth eval
/// --json` has them). `where` is a data set ("wmt14-en-de", "AG News") or a task, which stands for the first
/// of its data sets that has the score. Spelling is lenient: "Random + Vanilla" is "V+R", "light-conv:15" is
/// "light-conv". Nothing where the paper has none, so for models with model.recurrent_depth.
std::optional<PaperFigure> paper_figure(std::string_view where, std::string_view attention,
                                        const Settings& settings, std::string_view score);

/// The figure of the later study for a run with these settings: its rows differ in positions, in recurrence
/// and in how a mixture is weighted. `where` and `score` as of paper_figure. Nothing where it has no such
/// row.
std::optional<PaperFigure> narang_figure(std::string_view where, std::string_view attention,
                                         const Settings& settings, std::string_view score);

/// Which of the paper's data sets the run was trained on, by the names of its recipe and of its data; empty
/// where it was none of them. ListOps and IMDB by bytes, of the Long Range Arena, have names too, though
/// the paper has no figures for them.
std::string paper_data(const RunRecord& run);
/// The same by the name of a recipe alone: "recipes/paper/c4.toml".
std::string paper_data(const std::string& recipe);

}  // namespace synthesizer
