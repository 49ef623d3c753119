# Turns on CUDA. Who asks for it and has no toolkit is told so, and gets no build for the CPU under its name.

include(CheckLanguage)

# Code for what is in use, and PTX of the newest for what comes; set CMAKE_CUDA_ARCHITECTURES (or CUDAARCHS) for less.
set(fathom_chooses_architectures OFF)
if(NOT CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(fathom_chooses_architectures ON)
  set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 90 CACHE STRING "GPU architectures to compile for")
endif()
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  # A toolkit is often installed without being on the path.
  find_program(FATHOM_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin /usr/local/cuda/bin)
  if(FATHOM_NVCC)
    set(ENV{CUDACXX} ${FATHOM_NVCC})
  endif()
endif()

check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  if(fathom_chooses_architectures AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
    set_property(CACHE CMAKE_CUDA_ARCHITECTURES PROPERTY VALUE 75-real 80-real 86-real 90-real 100)
  endif()
  # As flags: CMake 3.25 does not know that nvcc speaks C++20. Without contraction, as on the CPU: same bits everywhere.
  string(APPEND CMAKE_CUDA_FLAGS " -std=c++20 -fmad=false")
  message(STATUS "CUDA: found ${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION}, "
                 "compiling for ${CMAKE_CUDA_ARCHITECTURES}")
else()
  message(FATAL_ERROR "FATHOM_CUDA is on, but there is no working CUDA toolkit: set CUDACXX to the path of nvcc if there "
                      "is one, or turn FATHOM_CUDA off")
endif()
