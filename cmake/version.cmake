# version_header(<target> <header>): the project's version and the git commit, in a header that is made at every build and
# touched only when it changed, so a new commit costs one small file. Run as a script (-P) it makes the header.
if(CMAKE_SCRIPT_MODE_FILE)
  execute_process(COMMAND git --no-optional-locks -C ${SOURCE} describe --always --dirty --abbrev=10
                  OUTPUT_VARIABLE git OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(git "unknown")
  endif()
  set(text "#pragma once\n#define NPUKIT_VERSION \"${VERSION}\"\n#define NPUKIT_GIT \"${git}\"\n")
  set(old "")
  if(EXISTS ${HEADER})
    file(READ ${HEADER} old)
  endif()
  if(NOT old STREQUAL text)
    file(WRITE ${HEADER} "${text}")
  endif()
  return()
endif()

function(version_header target header)
  if(NOT TARGET ${target})
    return()
  endif()
  add_custom_target(${target}_version BYPRODUCTS ${header}
    COMMAND ${CMAKE_COMMAND} -D SOURCE=${CMAKE_SOURCE_DIR} -D VERSION=${PROJECT_VERSION} -D HEADER=${header}
            -P ${CMAKE_SOURCE_DIR}/cmake/version.cmake)
  add_dependencies(${target} ${target}_version)
endfunction()
