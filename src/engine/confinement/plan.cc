#include "engine/confinement/plan.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "engine/confinement/wire.h"

namespace assay::confinement {

posix::Descriptor write_plan(const Plan& plan) {
  const std::string confinement = encode(plan.confinement);
  const PlanHeader header{.confinement_bytes = static_cast<std::uint32_t>(confinement.size()),
                          .filter_bytes = static_cast<std::uint32_t>(plan.filter.size())};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += confinement;
  bytes += plan.filter;
  if (bytes.size() > PlanHeader::kMaxBytes) {
    throw std::system_error(E2BIG, std::generic_category(), "confinement of a child");
  }
  posix::Descriptor file(::memfd_create("confinement", MFD_CLOEXEC));
  if (!file ||
      ::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    throw std::system_error(errno, std::generic_category(), "confinement of a child");
  }
  return file;
}

Plan read_plan(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || status.st_size > PlanHeader::kMaxBytes) {
    throw std::runtime_error("there is no plan of the confinement");
  }
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  PlanHeader header;
  if (bytes.size() < sizeof header ||
      ::pread(descriptor, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw std::runtime_error("the plan of the confinement cannot be read");
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != PlanHeader::kMagic ||
      sizeof header + header.confinement_bytes + header.filter_bytes != bytes.size()) {
    throw std::runtime_error("the plan of the confinement is not whole");
  }
  const std::string_view rest = std::string_view(bytes).substr(sizeof header);
  return {.confinement = decode(rest.substr(0, header.confinement_bytes)),
          .filter = std::string(rest.substr(header.confinement_bytes))};
}

}  // namespace assay::confinement
