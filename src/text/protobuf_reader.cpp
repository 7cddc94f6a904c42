#include "text/protobuf_reader.h"

namespace synthesizer {

std::optional<ProtobufField> ProtobufReader::next() {
  if (rest_.empty()) return {};
  const uint64_t tag = varint();
  ProtobufField field;
  field.number = tag >> 3;
  switch (tag & 7) {
    case 0: field.value = varint(); break;
    case 1: field.bytes = take(8); break;
    case 2: field.bytes = take(varint()); break;
    case 5: field.bytes = take(4); break;
    default: return {};
  }
  return field;
}

uint64_t ProtobufReader::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) break;
  }
  return value;
}

std::string_view ProtobufReader::take(uint64_t bytes) {
  const auto taken = rest_.substr(0, bytes);
  rest_.remove_prefix(taken.size());
  return taken;
}

}  // namespace synthesizer
