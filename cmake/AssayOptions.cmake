# Language level, warnings and sanitizers, carried by the interface target `assay_options`.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(ASSAY_TESTS "Build the tests" ON)
option(ASSAY_BENCHMARKS "Build the benchmarks" ON)
option(ASSAY_FUZZERS "Build the libFuzzer targets (clang only)" OFF)
set(ASSAY_SANITIZE "" CACHE STRING "address, thread or empty")

add_library(assay_options INTERFACE)
target_compile_options(assay_options INTERFACE -Wall -Wextra -Wconversion)
# Warnings are errors with the compiler this is developed with; a newer one may know new warnings, which
# are no reason to fail on somebody's machine.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 sees out-of-bounds copies in std::string's own operator+ at -O2 (GCC bug 105651) and
  # uninitialised members in moved std::optional and std::variant: these flow-based warnings are off.
  target_compile_options(assay_options INTERFACE -Werror -Wno-error=invalid-pch -Wno-array-bounds
                         -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread
                         -Wno-maybe-uninitialized)
endif()
target_include_directories(assay_options INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
target_compile_definitions(assay_options INTERFACE _GNU_SOURCE ASSAY_VERSION="${PROJECT_VERSION}")
# The executables must run on any Linux with a glibc as old as Debian 12's: no shared libstdc++.
if(NOT ASSAY_SANITIZE)
  target_link_options(assay_options INTERFACE -static-libgcc -static-libstdc++)
endif()

# The rooms a fuzzer drives tell libFuzzer which branches they take.
if(ASSAY_FUZZERS)
  target_compile_options(assay_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(ASSAY_SANITIZE STREQUAL "address")
  target_compile_options(assay_options INTERFACE -fsanitize=address,undefined
                         -fno-sanitize-recover=undefined -fno-omit-frame-pointer
                         -Wno-maybe-uninitialized)  # g++ 12 sees ghosts under sanitizers
  target_link_options(assay_options INTERFACE -fsanitize=address,undefined)
  target_compile_definitions(assay_options INTERFACE ASSAY_SANITIZED=1)
elseif(ASSAY_SANITIZE STREQUAL "thread")
  target_compile_options(assay_options INTERFACE -fsanitize=thread -Wno-tsan -Wno-maybe-uninitialized)
  target_link_options(assay_options INTERFACE -fsanitize=thread)
  target_compile_definitions(assay_options INTERFACE ASSAY_SANITIZED=1)
endif()
