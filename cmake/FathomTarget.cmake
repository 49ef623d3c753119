# Settings that every Fathom target shares.

add_library(fathom_flags INTERFACE)
target_compile_features(fathom_flags INTERFACE cxx_std_20)
# Results must not depend on the compiler's choice of instructions: fma is written where it is meant.
# Nobody reads errno after a root: without it, roots become single instructions.
target_compile_options(fathom_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off;-fno-math-errno;-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off,-fno-math-errno,-Wall,-Wextra>")

if(FATHOM_SANITIZE)
  target_compile_options(fathom_flags INTERFACE -fsanitize=${FATHOM_SANITIZE} -fno-sanitize-recover=all
                                                -fno-omit-frame-pointer)
  target_link_options(fathom_flags INTERFACE -fsanitize=${FATHOM_SANITIZE})
  if(FATHOM_SANITIZE MATCHES thread)
    target_compile_definitions(fathom_flags INTERFACE FATHOM_PLAIN_THREADS)
  endif()
endif()
if(FATHOM_COVERAGE)
  target_compile_options(fathom_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(fathom_flags INTERFACE --coverage)
endif()
