#include "engine/node/missing_header.h"

#include <algorithm>

namespace assay::node {
namespace {

using job::Verdict;

struct Library {
  std::string_view header{};  // or a folder of them
  std::string_view name{};
};

constexpr Library kLibraries[] = {{"curand.h", "cuRAND"},
                                  {"curand_kernel.h", "cuRAND"},
                                  {"curand_mtgp32_host.h", "cuRAND"},
                                  {"cublas.h", "cuBLAS"},
                                  {"cublas_v2.h", "cuBLAS"},
                                  {"cublasLt.h", "cuBLAS"},
                                  {"cufft.h", "cuFFT"},
                                  {"cusparse.h", "cuSPARSE"},
                                  {"cusolverDn.h", "cuSOLVER"},
                                  {"cudnn.h", "cuDNN"},
                                  {"nccl.h", "NCCL"},
                                  {"cooperative_groups.h", "the CUDA runtime"},
                                  {"mma.h", "the CUDA runtime"},
                                  {"cub/", "CCCL"},
                                  {"thrust/", "CCCL"},
                                  {"cuda/", "CCCL"},
                                  {"nv/", "CCCL"},
                                  {"nvtx3/", "NVTX"}};

const Library* library_of(std::string_view header) {
  const auto* const found =
      std::find_if(std::begin(kLibraries), std::end(kLibraries), [&](const Library& one) {
        return one.header.ends_with('/') ? header.starts_with(one.header) : header == one.header;
      });
  return found == std::end(kLibraries) ? nullptr : found;
}

// As NVRTC says it, and as a C++ compiler does.
std::string_view named(std::string_view error) {
  constexpr std::string_view kOpen = "open source file \"";
  if (const auto at = error.find(kOpen); at != std::string_view::npos) {
    const auto rest = error.substr(at + kOpen.size());
    return rest.substr(0, rest.find('"'));
  }
  const auto end = error.find(": No such file or directory");
  if (end == std::string_view::npos) return {};
  const auto before = error.substr(0, end);
  return before.substr(before.find_last_of(" :") + 1);
}

}  // namespace

std::optional<std::string> missing_cuda_header(std::string_view error) {
  const std::string_view header = named(error);
  if (library_of(header) == nullptr) return std::nullopt;
  return std::string(header);
}

Ended lacks_header(const std::string& header, const std::string& error) {
  const Library* library = library_of(header);
  const std::string name(library == nullptr ? "CUDA" : library->name);
  return {.verdict = Verdict::unsupported,
          .summary =
              "The CUDA toolkit of this machine has no " + header + " (of " + name + "): " + error,
          .detail = {{"missing", header}}};
}

}  // namespace assay::node
