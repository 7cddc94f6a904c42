#include "interop/huggingface_export.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "interop/export_parts.h"
#include "interop/huggingface_model.h"
#include "train/safetensors.h"

namespace synthesizer {
namespace {

HuggingFaceModel model_of(Task& task) try {
  return huggingface_model(task);
} catch (const nlohmann::json::exception& unexpected) {  // a piece that is not UTF-8
  invalid(fmt::format("this run's tokenizer cannot be written as JSON: {}", unexpected.what()));
}

}  // namespace

void export_huggingface(Task& task, const std::string& folder) {
  const HuggingFaceModel model = model_of(task);
  write_new_folder(folder, [&] {
    for (const FolderFile& file : model.files) write_file(folder + "/" + file.name, file.contents);
    save_tensors(folder + "/model.safetensors", model.tensors, {{"format", "pt"}});
  });
}

}  // namespace synthesizer
