# Third-party libraries. Each is named once here, and in the dependency table of docs/dependencies.md.
find_package(Threads REQUIRED)
if(NPUKIT_TESTS)
  if(CMAKE_CROSSCOMPILING)
    # Debian's libraries are for this machine: build its source for the other one.
    add_subdirectory(/usr/src/googletest ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL SYSTEM)
    if(NOT TARGET GTest::gtest)  # newer ones name them so themselves
      add_library(GTest::gtest ALIAS gtest)
      add_library(GTest::gtest_main ALIAS gtest_main)
    endif()
  else()
    find_package(GTest CONFIG)
    if(NOT GTest_FOUND)
      message(FATAL_ERROR "GoogleTest is missing: run ./dev setup")
    endif()
  endif()
else()
  add_library(GTest::gtest INTERFACE IMPORTED)
endif()
if(NOT NPUKIT_PHONE_ONLY)
  find_package(nlohmann_json CONFIG REQUIRED)
  find_package(CLI11 CONFIG REQUIRED)
  find_package(fmt CONFIG REQUIRED)
  find_package(Protobuf REQUIRED)
endif()

# Highway's headers. On x86 every kernel is compiled for several targets; we choose one ourselves. Its library is there for
# the assertions of sanitizer builds: a release build has no need of it and does not load it (it takes milliseconds
# before main). On arm64 there is the static target (NEON) alone.
add_library(npukit_hwy INTERFACE)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  find_package(hwy CONFIG REQUIRED)
  target_link_libraries(npukit_hwy INTERFACE -Wl,--push-state,--as-needed hwy::hwy -Wl,--pop-state)
else()
  target_compile_definitions(npukit_hwy INTERFACE HWY_COMPILE_ONLY_STATIC)
endif()

# flatbuffers_schema(<layer> <name>): src/<layer>/<name>.fbs -> gen/<layer>/<name>_generated.h, made at configure time so that
# every target simply includes it. Skipped while the schema does not exist.
find_program(FLATC flatc REQUIRED)
function(flatbuffers_schema layer name)
  set(schema ${CMAKE_SOURCE_DIR}/src/${layer}/${name}.fbs)
  if(NOT EXISTS ${schema})
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${schema})
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/gen/${layer})
  execute_process(
    COMMAND ${FLATC} --cpp --cpp-std c++17 --scoped-enums -o ${CMAKE_BINARY_DIR}/gen/${layer} ${schema}
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "flatc failed on ${schema}")
  endif()
endfunction()

# onnx-ml.proto comes from the pinned onnx wheel (./dev setup puts it into .cache/) and is compiled as package npukit_onnx:
# two copies of package `onnx` in one process abort before main.
function(onnx_proto)
  set(source ${CMAKE_SOURCE_DIR}/.cache/onnx/onnx-ml.proto)
  if(NOT EXISTS ${source})
    message(FATAL_ERROR "${source} is missing: run ./dev setup")
  endif()
  set(out ${CMAKE_BINARY_DIR}/gen/importers/onnx)
  file(MAKE_DIRECTORY ${out})
  file(READ ${source} text)
  string(REGEX REPLACE "\npackage onnx;" "\npackage npukit_onnx;" text "${text}")
  file(CONFIGURE OUTPUT ${out}/onnx_ml.proto CONTENT "${text}" @ONLY)
  execute_process(COMMAND ${Protobuf_PROTOC_EXECUTABLE} --cpp_out=${out} -I${out} ${out}/onnx_ml.proto
                  RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "protoc failed on ${out}/onnx_ml.proto")
  endif()
  add_library(npukit_onnx_proto STATIC ${out}/onnx_ml.pb.cc)
  target_link_libraries(npukit_onnx_proto PUBLIC protobuf::libprotobuf-lite)
  target_include_directories(npukit_onnx_proto SYSTEM PUBLIC ${CMAKE_BINARY_DIR}/gen)
endfunction()
