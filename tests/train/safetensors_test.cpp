#include "train/safetensors.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"

namespace synthesizer {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

class Safetensors : public ::testing::Test {
 protected:
  Safetensors() {
    std::string pattern = (std::filesystem::temp_directory_path() / "safetensors_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ + "/x.safetensors";
  }
  ~Safetensors() override { std::filesystem::remove_all(folder_); }

  at::Tensor round_trip(const at::Tensor& tensor) {
    save_tensors(path_, {{"x", tensor}});
    return TensorFile(path_).tensor("x");
  }

  std::string folder_, path_;
};

TEST_F(Safetensors, EveryDtypeComesBackAsItWas) {
  for (const auto type : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kShort,
                          at::kChar, at::kByte, at::kBool}) {
    const auto tensor = at::arange(12).view({3, 4}).remainder(2).to(type);
    const auto back = round_trip(tensor);
    EXPECT_EQ(back.scalar_type(), type);
    EXPECT_TRUE(at::equal(back, tensor)) << c10::toString(type);
  }
}

TEST_F(Safetensors, NumbersThatAreNotFiniteComeBack) {
  const auto back = round_trip(at::tensor({INFINITY, -INFINITY, NAN, -0.0F}));
  EXPECT_EQ(back[0].item<float>(), INFINITY);
  EXPECT_EQ(back[1].item<float>(), -INFINITY);
  EXPECT_TRUE(std::isnan(back[2].item<float>()));
  EXPECT_TRUE(std::signbit(back[3].item<float>()));
}

TEST_F(Safetensors, ScalarsAndEmptyTensorsComeBack) {
  EXPECT_EQ(round_trip(at::scalar_tensor(7, at::kLong)).item<int64_t>(), 7);
  EXPECT_EQ(round_trip(at::scalar_tensor(7, at::kLong)).dim(), 0);
  EXPECT_THAT(round_trip(at::empty({3, 0, 2})).sizes().vec(), ElementsAre(3, 0, 2));
  EXPECT_THAT(round_trip(at::empty({0})).sizes().vec(), ElementsAre(0));
}

TEST_F(Safetensors, StridedTensorsAreWrittenInTheirOrder) {
  const auto base = at::arange(12, at::kFloat).view({3, 4});
  for (const auto& tensor : {base.t(), base.slice(1, 0, 4, 2), base[1].expand({5, 4}), base.select(1, 2)}) {
    EXPECT_TRUE(at::equal(round_trip(tensor), tensor));
  }
}

TEST_F(Safetensors, TensorsWithGradientsAreSaved) {
  const auto tensor = at::ones({2}).requires_grad_();
  EXPECT_TRUE(at::equal(round_trip(tensor * 2), at::full({2}, 2.0F)));
  EXPECT_FALSE(round_trip(tensor).requires_grad());
}

TEST_F(Safetensors, NamesKeepTheOrderGiven) {
  save_tensors(path_,
               {{"z", at::ones({3}, at::kByte)}, {"a", at::ones({2})}, {"m", at::ones({1}, at::kDouble)}});
  EXPECT_THAT(TensorFile(path_).names(), ElementsAre("z", "a", "m"));
}

TEST_F(Safetensors, NamesMayHoldAnyText) {
  const std::vector<std::string> names = {"", "a.b/c", "\"quoted\"\\", "größe", "line\nbreak", "dtype"};
  std::vector<NamedTensor> tensors;
  for (const auto& name : names) tensors.push_back({name, at::ones({1})});
  save_tensors(path_, tensors);
  EXPECT_EQ(TensorFile(path_).names(), names);
}

TEST_F(Safetensors, MetadataComeBack) {
  const std::map<std::string, std::string> metadata = {{"step", "12"}, {"größe", "a \"b\"\n"}, {"", ""}};
  save_tensors(path_, {{"x", at::ones({1})}}, metadata);
  auto found = TensorFile(path_).metadata();
  EXPECT_EQ(found.erase("crc32c"), 1u);
  EXPECT_EQ(found, metadata);
  EXPECT_THAT(TensorFile(path_).names(), ElementsAre("x"));
}

TEST_F(Safetensors, AFileWithoutTensorsIsFine) {
  save_tensors(path_, {});
  EXPECT_TRUE(TensorFile(path_).names().empty());
  const auto metadata = TensorFile(path_).metadata();
  ASSERT_THAT(metadata, ElementsAre(Pair("crc32c", SizeIs(8))));
  EXPECT_EQ(read_file(path_), std::string("(\0\0\0\0\0\0\0", 8) + R"({"__metadata__":{"crc32c":")" +
                                  metadata.at("crc32c") + "\"}}  ");
}

TEST_F(Safetensors, TheFileIsWhatTheFormatSays) {
  save_tensors(path_, {{"b", at::tensor({1, 2}, at::kByte)}, {"a", at::tensor({1.0F}, at::kFloat)}},
               {{"k", "v"}});
  std::string header = R"({"__metadata__":{"crc32c":")" + TensorFile(path_).metadata().at("crc32c") +
                       R"(","k":"v"},"b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},)"
                       R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t length = header.size();
  EXPECT_EQ(read_file(path_), std::string(reinterpret_cast<const char*>(&length), 8) + header +
                                  std::string("\0\0\x80\x3F\1\2", 6));
}

TEST_F(Safetensors, WhatIsSavedIsAligned) {
  save_tensors(path_, {{"a", at::ones({3}, at::kByte)},
                       {"b", at::ones({3}, at::kHalf)},
                       {"c", at::ones({1})},
                       {"d", at::ones({1}, at::kDouble)}});
  TensorFile file(path_);
  for (const auto& name : file.names()) {
    const auto tensor = file.tensor(name);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.const_data_ptr()) % tensor.element_size(), 0u) << name;
    EXPECT_EQ(file.tensor(name).const_data_ptr(), tensor.const_data_ptr()) << name << " was copied";
  }
}

TEST_F(Safetensors, DataThatLieUnalignedAreRead) {
  const float numbers[] = {1.5F, -2};
  std::string data(9, '\7');
  std::memcpy(data.data() + 1, numbers, 8);
  write_file(path_, write_tensor_header({{"b", "U8", {1}, 0, 1}, {"f", "F32", {2}, 1, 9}}, {}) + data);
  TensorFile file(path_);
  EXPECT_EQ(file.tensor("b").item<int64_t>(), 7);
  EXPECT_TRUE(at::equal(file.tensor("f"), at::tensor({1.5F, -2.0F})));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(file.tensor("f").const_data_ptr()) % 4, 0u);
}

TEST_F(Safetensors, TensorsOutliveTheFileObject) {
  save_tensors(path_, {{"x", at::arange(1000)}, {"y", at::arange(1000) * 2}});
  at::Tensor x, y;
  {
    TensorFile file(path_);
    x = file.tensor("x");
    y = file.tensor("y");
  }
  std::filesystem::remove(path_);
  x = at::Tensor();
  EXPECT_TRUE(at::equal(y, at::arange(1000) * 2));
}

TEST_F(Safetensors, WritingIntoATensorLeavesTheFileAlone) {
  save_tensors(path_, {{"x", at::zeros({100})}});
  const std::string before = read_file(path_);
  const auto x = TensorFile(path_).tensor("x");
  x.fill_(3);
  EXPECT_EQ(x.sum().item<float>(), 300);
  EXPECT_EQ(read_file(path_), before);
  EXPECT_EQ(TensorFile(path_).tensor("x").sum().item<float>(), 0);
}

TEST_F(Safetensors, AFileCanReplaceTheOneItsTensorsComeFrom) {
  save_tensors(path_, {{"x", at::arange(5000)}});
  const auto x = TensorFile(path_).tensor("x");
  save_tensors(path_, {{"x", x + 1}, {"old", x}});
  EXPECT_TRUE(at::equal(x, at::arange(5000)));
  EXPECT_TRUE(at::equal(TensorFile(path_).tensor("x"), at::arange(1, 5001)));
  EXPECT_TRUE(at::equal(TensorFile(path_).tensor("old"), x));
}

TEST_F(Safetensors, AnUnknownNameIsRefusedWithTheNearest) {
  save_tensors(path_, {{"layers.0.weight", at::ones({1})}});
  TensorFile file(path_);
  EXPECT_TRUE(file.has("layers.0.weight"));
  EXPECT_FALSE(file.has("layers.0.weigth"));
  try {
    file.tensor("layers.0.weigth");
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_EQ(error.what(), path_ + " has no tensor 'layers.0.weigth', did you mean 'layers.0.weight'?");
  }
}

TEST_F(Safetensors, WhatTheFormatCannotHoldIsRefusedAndNothingIsWritten) {
  const auto one = at::ones({1});
  EXPECT_THROW(save_tensors(path_, {{"x", one}, {"x", one}}), InvalidInput);
  EXPECT_THROW(save_tensors(path_, {{"x", at::Tensor()}}), InvalidInput);
  EXPECT_THROW(save_tensors(path_, {{"x", one.to(at::kComplexFloat)}}), InvalidInput);
  EXPECT_THROW(save_tensors(path_, {{"x", one.to_sparse()}}), InvalidInput);
  EXPECT_THROW(save_tensors(path_, {{"__metadata__", one}}), InvalidInput);
  EXPECT_THROW(save_tensors(path_, {{"\xFF", one}}), InvalidInput);
  EXPECT_THROW(save_tensors(path_, {{"x", one}}, {{"k", "\xFF"}}), InvalidInput);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Safetensors, AFolderThatIsNotThereIsTheSystemsRefusal) {
  EXPECT_THROW(save_tensors(folder_ + "/none/x", {{"x", at::ones({1})}}), std::runtime_error);
}

}  // namespace
}  // namespace synthesizer
