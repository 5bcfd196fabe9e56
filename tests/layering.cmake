# Who may include what. cmake -D ROOT=<source tree> -P tests/layering.cmake fails on the first breach list.
#
# A room is a folder; a file belongs to the room with the longest matching path. ROOMS are the project
# folders it may include besides its own, LIBRARIES the third-party headers. The standard library and
# the operating system's headers are free to all but the emulator, which is to build anywhere.
cmake_minimum_required(VERSION 3.25)

set(breaches "")
set(room_paths "")

macro(room path)
  cmake_parse_arguments(ARG "" "" "ROOMS;LIBRARIES" ${ARGN})
  list(APPEND room_paths ${path})
  set("rooms_of_${path}" ${ARG_ROOMS})
  set("libraries_of_${path}" ${ARG_LIBRARIES})
endmacro()

room(src/spelling)
room(src/engine/posix)
room(src/engine/frames       ROOMS engine/posix LIBRARIES json)
room(src/engine/job          LIBRARIES json)
room(src/engine/contract     ROOMS spelling LIBRARIES json zlib)
room(src/engine/source       ROOMS spelling)
room(src/engine/judge        ROOMS engine/contract)
room(src/engine/journal      ROOMS engine/job engine/posix LIBRARIES json sqlite openssl)
room(src/engine/confinement  ROOMS engine/posix LIBRARIES json seccomp)
room(src/engine/emulator)
room(src/engine/inspection   ROOMS engine/emulator LIBRARIES json)
room(src/engine/runner       ROOMS engine/frames engine/confinement engine/judge engine/contract engine/emulator
                                   engine/inspection engine/posix engine/source
                             LIBRARIES json cuda expat)
# wrapper/ is text for another compiler, which travels inside the engine: no part of this build.
room(src/engine/python       ROOMS engine/confinement engine/emulator engine/inspection LIBRARIES json cuda)
room(src/engine/node         ROOMS engine/frames engine/job engine/contract engine/source engine/confinement engine/posix
                             LIBRARIES json)
room(src/mcp                 ROOMS spelling LIBRARIES json boost openssl)
room(src/plans               ROOMS engine/node engine/job engine/contract engine/judge engine/confinement engine/posix
                             LIBRARIES json yaml openssl)
room(tools                   ROOMS mcp plans engine/node engine/journal engine/job engine/contract engine/source
                             LIBRARIES json)
room(src/rest                ROOMS mcp tools engine/journal LIBRARIES json)
room(src/cli                 ROOMS mcp plans tools rest engine/node engine/journal engine/job engine/confinement
                                   engine/posix
                             LIBRARIES json spdlog cli11)

# One file each: what a library is good for stays behind our own interface.
set(only_simdjson "src/mcp/codec.cc")
set(only_boost "src/mcp/http/")
set(max_files_seccomp 1)

function(library_of header out)
  set(known
    "^nlohmann/=json" "^boost/=boost" "^(spdlog|fmt)/=spdlog" "^simdjson\\.h$=simdjson" "^seccomp\\.h$=seccomp"
    "^sqlite3\\.h$=sqlite" "^openssl/=openssl" "^zlib\\.h$=zlib" "^expat\\.h$=expat" "^CLI/=cli11" "^yaml-cpp/=yaml" "^catch2/=catch2"
    "^(cuda|cudaProfiler|cuda_runtime.*|nvrtc|nvJitLink|nvml|cupti.*|nvperf.*)\\.h$=cuda")
  foreach(rule IN LISTS known)
    string(REGEX MATCH "^(.*)=([a-z0-9]+)$" whole "${rule}")
    set(name "${CMAKE_MATCH_2}")
    if(header MATCHES "${CMAKE_MATCH_1}")
      set(${out} ${name} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${out} "" PARENT_SCOPE)
endfunction()

macro(breach file text)
  list(APPEND breaches "${file}: ${text}")
endmacro()

# The part of a project include path that names a room: engine/judge, mcp, tools, …
function(room_of_include header out)
  string(REGEX MATCH "^(src/)?((engine/[a-z_]+)|[a-z_]+)/" whole "${header}")
  set(${out} "${CMAKE_MATCH_2}" PARENT_SCOPE)
endfunction()

macro(check_include file room_path line)
  string(REGEX MATCH "#[ \t]*include[ \t]*([<\"])([^>\"]+)" whole "${line}")
  set(bracket "${CMAKE_MATCH_1}")
  set(header "${CMAKE_MATCH_2}")
  string(REGEX REPLACE "^src/" "" own "${room_path}")
  if(bracket STREQUAL "\"")
    room_of_include("${header}" target)
    if(header MATCHES "\\.\\./")
      breach(${file} "includes \"${header}\": paths start at src/ or at the root")
    elseif(target AND NOT target STREQUAL own AND NOT target IN_LIST rooms_of_${room_path})
      breach(${file} "includes \"${header}\", but ${own} may include only: ${own} ${rooms_of_${room_path}}")
    endif()
  endif()
  library_of("${header}" library)
  if(library STREQUAL "simdjson")
    if(NOT "${file}" STREQUAL only_simdjson)
      breach(${file} "includes <${header}>, which belongs to ${only_simdjson}")
    endif()
  elseif(library STREQUAL "boost" AND own STREQUAL "mcp" AND NOT "${file}" MATCHES "^${only_boost}")
    breach(${file} "includes <${header}>, which belongs to ${only_boost}")
  elseif(library AND NOT library IN_LIST libraries_of_${room_path})
    breach(${file} "includes <${header}>, but ${own} may use only: ${libraries_of_${room_path}}")
  elseif(own STREQUAL "engine/emulator" AND bracket STREQUAL "<" AND header MATCHES "[./]" AND NOT header STREQUAL "immintrin.h")
    breach(${file} "includes <${header}>: the emulator uses only the C++ standard library")
  endif()
  if(library STREQUAL "seccomp")
    list(APPEND seccomp_files ${file})
  endif()
endmacro()

macro(check_words file)
  file(READ ${ROOT}/${file} text)
  string(TOLOWER "${text}" text)
  if("${file}" MATCHES "^src/mcp/" AND text MATCHES "kernel")
    breach(${file} "says \"kernel\": the protocol room does not know what it carries")
  endif()
  if("${file}" MATCHES "^src/engine/" AND text MATCHES "json-?rpc")
    breach(${file} "says \"JSON-RPC\": the engine does not know who asks")
  endif()
endmacro()

set(seccomp_files "")
set(files_seen 0)
foreach(room_path IN LISTS room_paths)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${room_path}/*.h ${ROOT}/${room_path}/*.cc)
  foreach(file IN LISTS files)
    math(EXPR files_seen "${files_seen} + 1")
    check_words(${file})
    file(STRINGS ${ROOT}/${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
    foreach(line IN LISTS lines)
      check_include(${file} ${room_path} "${line}")
    endforeach()
  endforeach()
endforeach()

# A folder of sources that no rule names would be free to include anything.
file(GLOB_RECURSE all RELATIVE ${ROOT} ${ROOT}/src/*.h ${ROOT}/src/*.cc)
foreach(file IN LISTS all)
  get_filename_component(folder ${file} DIRECTORY)
  set(covered FALSE)
  foreach(room_path IN LISTS room_paths)
    string(FIND "${folder}/" "${room_path}/" at)
    if(at EQUAL 0)
      set(covered TRUE)
    endif()
  endforeach()
  if(NOT covered)
    breach(${file} "belongs to no room of tests/layering.cmake")
  endif()
endforeach()

list(LENGTH seccomp_files count)
if(count GREATER max_files_seccomp)
  breach(src "seccomp.h is included by several, one file is to know it")
endif()

if(breaches)
  list(JOIN breaches "\n  " text)
  message(FATAL_ERROR "layering:\n  ${text}\n")
endif()
message(STATUS "layering: ${files_seen} files keep to their rooms")
