# What Fathom chooses when it is the project being built; inside another project that one decides.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

# Compile through ccache where it is installed and nobody chose another launcher. Paths inside the checkout count as
# relative ones, so that every checkout finds what another has compiled.
find_program(FATHOM_CCACHE ccache)
if(FATHOM_CCACHE)
  foreach(language IN ITEMS CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER
          ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${FATHOM_CCACHE})
    endif()
  endforeach()
endif()

# An installed command finds the shared libraries beside it, wherever the whole was moved.
file(RELATIVE_PATH bin_to_lib /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
set(CMAKE_INSTALL_RPATH $ORIGIN $ORIGIN/${bin_to_lib})
# What a build folder holds finds the modules that are loaded at run time.
set(CMAKE_BUILD_RPATH ${PROJECT_BINARY_DIR}/src/io)
# And those that it was linked with outside the system's folders, where they are.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
