# cmake --install BUILD --prefix P: a tree that works wherever it is moved. The programs look for one another
# beside themselves, and for the CUDA compiler in ../lib/assay/cuda.
#
#   bin/             assay, assay-runner, optest, libassay-python.so
#   lib/assay/cuda/  component `cuda`: NVRTC and its headers, if the build knows a toolkit, with NVIDIA's licence
#   share/assay/     documentation, schemas, examples, the Python client
install(TARGETS assay assay-runner RUNTIME DESTINATION bin COMPONENT assay)
# What kernels in Python run in. Sanitizer builds have none.
if(TARGET assay-python)
  install(TARGETS assay-python LIBRARY DESTINATION bin COMPONENT assay)
endif()
install(FILES ${CMAKE_BINARY_DIR}/bin/optest DESTINATION bin COMPONENT assay)
install(FILES README.md MCP_README.md DESTINATION share/assay COMPONENT assay)
install(DIRECTORY docs schemas examples clients DESTINATION share/assay COMPONENT assay
        USE_SOURCE_PERMISSIONS
        PATTERN __pycache__ EXCLUDE PATTERN CMakeLists.txt EXCLUDE PATTERN data EXCLUDE PATTERN output EXCLUDE)

# The build has links; what is installed are the files themselves, of the toolkit that is recorded by then.
install(CODE "
  foreach(folder IN ITEMS include lib)
    file(REAL_PATH \"${CMAKE_BINARY_DIR}/cuda/\${folder}\" from)
    set(to \"\${CMAKE_INSTALL_PREFIX}/lib/assay/cuda/\${folder}\")
    if(NOT EXISTS \${from})
      message(STATUS \"No CUDA compiler: the build has no cuda/\${folder}\")
    elseif(folder STREQUAL lib)
      file(INSTALL \${from}/ DESTINATION \${to} FILES_MATCHING PATTERN \"libnvrtc*.so*\"
           PATTERN cmake EXCLUDE PATTERN stubs EXCLUDE)
    else()
      file(INSTALL \${from}/ DESTINATION \${to})
    endif()
  endforeach()
" COMPONENT cuda)
# NVIDIA's wheels bring it. A toolkit of the machine's own has it in its root.
file(GLOB licences ${ASSAY_DEPS_DIR}/cuda/nvidia_cuda_nvrtc-*.dist-info/licenses/License.txt)
install(FILES ${licences} DESTINATION lib/assay/cuda COMPONENT cuda)
