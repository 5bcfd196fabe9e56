# cmake -D RUN=… -D WORK=… -P start_test.cmake: a server that does not start fails the suite (exit 1); it
# is no reason to say that the suite cannot be run here (exit 2), which counts as no failure.
foreach(server "echo 'no such option' >&2\nexit 70" "exit 0" "exec sleep 60")
  file(WRITE ${WORK}/bin/assay "#!/bin/sh\n${server}\n")
  file(CHMOD ${WORK}/bin/assay PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  execute_process(COMMAND bash ${RUN} ${WORK} RESULT_VARIABLE code ERROR_VARIABLE said)
  if(NOT code STREQUAL "1" OR NOT said MATCHES "does not say where it listens")
    message(FATAL_ERROR "a server that does '${server}': exit ${code}, and said: ${said}")
  endif()
endforeach()
