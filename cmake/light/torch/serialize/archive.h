// In place of LibTorch's header of this name while this project is compiled (Modules.cmake).
//
// torch/nn/module.h needs no more of archives than their names, but LibTorch's own header of them includes
// all of TorchScript: a second of every source's compilation. Who makes an archive includes input-archive.h
// and output-archive.h as well.
#pragma once

namespace torch::serialize {
class InputArchive;
class OutputArchive;
}  // namespace torch::serialize
