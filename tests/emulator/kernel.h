// Whole kernels from PTX files or text: a module, its device and named buffers at chosen addresses.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/emulator/emulator.h"

namespace assay::emulator::test {

// tests/emulator/ptx/<name>.ptx
std::string ptx_file(std::string_view name);
std::shared_ptr<const Module> parsed(std::string_view ptx);

// A launch being put together: arguments in order, buffers by the way.
class Call {
 public:
  Call(std::string kernel, Dim3 grid, Dim3 block) {
    launch_.kernel = std::move(kernel);
    launch_.grid = grid;
    launch_.block = block;
    budget_.threads = 1;
  }
  template <class T>
  Call& buffer(const std::string& name, std::vector<T>& data) {
    const std::uint64_t address = next_;
    next_ += (data.size() * sizeof(T) + 0xFFFF) & ~std::uint64_t{0xFFFF};
    next_ += 0x10000;
    buffers_.push_back(
        {.address = address, .bytes = std::as_writable_bytes(std::span(data)), .name = name});
    return value(address);
  }
  Call& buffer_at(const std::string& name, std::uint64_t address, std::span<std::byte> bytes) {
    buffers_.push_back({.address = address, .bytes = bytes, .name = name});
    return value(address);
  }
  Call& surroundings(const Surroundings& around) {
    launch_.surroundings = around;
    return *this;
  }
  // A buffer that the kernel has to write before it reads it.
  template <class T>
  Call& output(const std::string& name, std::vector<T>& data) {
    buffer(name, data);
    buffers_.back().initialised = false;
    return *this;
  }
  template <class T>
  Call& value(T v) {
    auto& p = launch_.parameters;
    p.resize((p.size() + alignof(T) - 1) / alignof(T) * alignof(T));
    const auto* const b = reinterpret_cast<const std::byte*>(&v);
    p.insert(p.end(), b, b + sizeof v);
    return *this;
  }
  Call& shared(std::size_t bytes) {
    launch_.dynamic_shared_bytes = bytes;
    return *this;
  }
  Call& copies_at_once() {
    launch_.copies_at_once = true;
    return *this;
  }
  Call& to_the_barrier() {
    launch_.to_the_barrier = true;
    return *this;
  }
  // The first parameter is an object of its buffer.
  Call& texture(const Texture& texture) {
    launch_.textures.push_back(texture);
    return *this;
  }
  Call& inspect(const Inspection& inspection) {
    launch_.inspection = inspection;
    return *this;
  }
  Call& budget(const Budget& b) {
    budget_ = b;
    return *this;
  }
  Outcome run(Device& device, const std::stop_token& stop = {}) {
    return device.launch(launch_, buffers_, budget_, stop);
  }
  Outcome run(const std::shared_ptr<const Module>& module, const std::stop_token& stop = {}) {
    Device device(module);
    return run(device, stop);
  }

 private:
  Launch launch_{};
  Budget budget_{};
  std::vector<Buffer> buffers_{};
  std::uint64_t next_ = 0x7F00'0000'0000;
};

}  // namespace assay::emulator::test
