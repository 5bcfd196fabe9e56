# Third-party libraries. Headers are SYSTEM so that our warnings stay ours; archives are preferred
# over shared objects so that the two executables travel.
find_package(Threads REQUIRED)

set(ASSAY_DEPS_DIR "${CMAKE_SOURCE_DIR}/.deps" CACHE PATH "Private folder that ./dev fills")

# nlohmann/json, spdlog, fmt, CLI11: header-only as Debian ships them.
find_path(NLOHMANN_INCLUDE nlohmann/json.hpp REQUIRED)
add_library(assay_json INTERFACE)
# Its two literals are inline functions but no templates, for which every translation unit instantiates the parser: a
# twelfth of the whole build, for literals that nobody here uses. A copy of that one header declares them only; where it
# reads otherwise, the copy is as it is.
file(READ ${NLOHMANN_INCLUDE}/nlohmann/json.hpp header)
string(REGEX REPLACE "inline (nlohmann::json[a-z_:]* operator \"\" ?_json[a-z_]*\\([^)]*\\))\n{[^}]*}" "\\1;" header "${header}")
set(folder ${CMAKE_BINARY_DIR}/json)
if(EXISTS ${folder}/nlohmann/json.hpp)
  file(READ ${folder}/nlohmann/json.hpp written)
endif()
if(NOT "${written}" STREQUAL "${header}")  # what is written anew is compiled anew
  file(WRITE ${folder}/nlohmann/json.hpp "${header}")
endif()
target_include_directories(assay_json SYSTEM INTERFACE ${folder} ${NLOHMANN_INCLUDE})

find_path(SPDLOG_INCLUDE spdlog/spdlog.h REQUIRED)
add_library(assay_log INTERFACE)
target_include_directories(assay_log SYSTEM INTERFACE ${SPDLOG_INCLUDE})
target_compile_definitions(assay_log INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)

find_path(CLI11_INCLUDE CLI/CLI.hpp REQUIRED)
add_library(assay_cli11 INTERFACE)
target_include_directories(assay_cli11 SYSTEM INTERFACE ${CLI11_INCLUDE})

# Boost.Asio and Beast, header-only too. What of Asio would need Boost's own libraries is not used.
find_path(BOOST_INCLUDE boost/beast/http.hpp REQUIRED)
add_library(assay_beast INTERFACE)
target_include_directories(assay_beast SYSTEM INTERFACE ${BOOST_INCLUDE})
target_compile_definitions(assay_beast INTERFACE BOOST_ASIO_NO_DEPRECATED)

function(assay_static_library target archive header)
  find_library(LIB_${target} NAMES lib${archive}.a ${archive} REQUIRED)
  find_path(INC_${target} ${header} REQUIRED)
  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE ${LIB_${target}} ${ARGN})
  target_include_directories(${target} SYSTEM INTERFACE ${INC_${target}})
endfunction()
assay_static_library(assay_sqlite sqlite3 sqlite3.h m ${CMAKE_DL_LIBS} Threads::Threads)
assay_static_library(assay_zlib z zlib.h)
assay_static_library(assay_seccomp seccomp seccomp.h)
assay_static_library(assay_expat expat expat.h m)
assay_static_library(assay_yaml yaml-cpp yaml-cpp/yaml.h)
assay_static_library(assay_crypto crypto openssl/evp.h ${CMAKE_DL_LIBS} Threads::Threads)
# The archive itself, right behind: an archive is searched for what stood before it.
assay_static_library(assay_tls ssl openssl/ssl.h ${LIB_assay_crypto} ${CMAKE_DL_LIBS} Threads::Threads)

# simdjson: Debian ships no archive, so ./dev fetches the amalgamated source (PyPI's pysimdjson
# source distribution carries it) and we build it; a shared one is the fallback.
if(EXISTS ${ASSAY_DEPS_DIR}/simdjson/simdjson.cpp)
  add_library(assay_simdjson STATIC ${ASSAY_DEPS_DIR}/simdjson/simdjson.cpp)
  target_include_directories(assay_simdjson SYSTEM PUBLIC ${ASSAY_DEPS_DIR}/simdjson)
  set_target_properties(assay_simdjson PROPERTIES CXX_CLANG_TIDY "")
else()
  message(STATUS "simdjson: no private source, linking the shared library (the result will not travel)")
  assay_static_library(assay_simdjson simdjson simdjson.h)
endif()
