# Install rules of the library: headers, and a relocatable package for find_package(fathom).

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
