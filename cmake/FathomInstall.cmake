# Install rules of the library: headers, and relocatable packages for find_package(fathom) and for pkg-config.

include(CMakePackageConfigHelpers)

set(fathom_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fathom)

# Exports a library as fathom::<name>, in its own file, so that a component's dependencies are looked for only with it.
function(fathom_install_library target name)
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${name}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  install(TARGETS ${target} EXPORT fathom-${name}-targets)
  install(EXPORT fathom-${name}-targets NAMESPACE fathom:: DESTINATION ${fathom_package_dir})
endfunction()

fathom_install_library(fathom fathom)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/fathom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h"
        PATTERN io EXCLUDE)
if(TARGET fathom_io)
  fathom_install_library(fathom_io io)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/fathom/io DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fathom
          FILES_MATCHING PATTERN "*.h")
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Shared libraries carry their dependencies themselves; static ones leave them to the program that links.
get_target_property(library_type fathom TYPE)
if(library_type STREQUAL "STATIC_LIBRARY")
  set(FATHOM_IS_STATIC ON)
else()
  set(FATHOM_IS_STATIC OFF)
endif()
set(FATHOM_HAS_CUDA OFF)
if(CMAKE_CUDA_COMPILER)
  set(FATHOM_HAS_CUDA ON)
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/fathom-config.cmake.in
                              ${PROJECT_BINARY_DIR}/fathom-config.cmake
                              INSTALL_DESTINATION ${fathom_package_dir}
                              NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fathom-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fathom-config.cmake ${PROJECT_BINARY_DIR}/fathom-config-version.cmake
        DESTINATION ${fathom_package_dir})

# The same for pkg-config: fathom_install_pc(<library> <name> <description> <what a static one requires> <and links>).
file(RELATIVE_PATH pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
cmake_path(APPEND pc_includedir "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
cmake_path(APPEND pc_libdir "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
function(fathom_install_pc library name description requires libs)
  set(pc_library ${library})
  set(pc_name ${name})
  set(pc_description ${description})
  set(pc_requires ${requires})
  set(pc_libs ${libs})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/fathom.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

set(core_requires "")
set(core_libs "")
set(io_requires "")
set(io_libs "")
if(FATHOM_IS_STATIC)
  set(core_requires "tbb libhwy")
  set(io_requires "libjpeg libpng libtiff-4 zlib pugixml")
  if(FATHOM_OPENVDB_FOUND)
    set(io_libs -ldl)
  endif()
  if(FATHOM_HAS_CUDA)
    set(core_libs "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt -ldl")
  endif()
endif()
fathom_install_pc(fathom fathom "${PROJECT_DESCRIPTION}" "${core_requires}" "${core_libs}")
if(TARGET fathom_io)
  fathom_install_pc(fathom_io fathom-io "Files of images, volumes and points for Fathom"
                    "fathom = ${PROJECT_VERSION} ${io_requires}" "${io_libs}")
endif()
