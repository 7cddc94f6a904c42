#include "model/attention_hook.h"

namespace synthesizer {
namespace {
thread_local AttentionHook current_attention_hook;
}

ScopedAttentionHook::ScopedAttentionHook(AttentionHook hook) : before_(std::move(current_attention_hook)) {
  current_attention_hook = std::move(hook);
}
ScopedAttentionHook::~ScopedAttentionHook() {
  current_attention_hook = std::move(before_);
}

bool has_attention_hook() {
  return static_cast<bool>(current_attention_hook);
}
void call_attention_hook(const AttentionCall& call) {
  if (current_attention_hook) current_attention_hook(call);
}

}  // namespace synthesizer
