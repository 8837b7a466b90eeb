# Flags every target of ours is built with.
add_library(npukit_flags INTERFACE)
target_compile_features(npukit_flags INTERFACE cxx_std_20)
target_compile_options(npukit_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers)
if(NPUKIT_WERROR)
  target_compile_options(npukit_flags INTERFACE -Werror)
endif()
# Floating point is what the source says on every machine: no fused multiply-add unless written.
target_compile_options(npukit_flags INTERFACE -ffp-contract=off)
