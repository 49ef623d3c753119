# Looks for the compiler and the libraries that the chosen parts take. What is missing is named all at once, with the
# packages that bring it.

include(CheckLanguage)

set(fathom_missing "")
set(fathom_missing_packages "")
macro(fathom_lacks what package)
  list(APPEND fathom_missing ${what})
  list(APPEND fathom_missing_packages ${package})
endmacro()

# A macro, since what find_package() sets is for the whole project.
macro(fathom_needs name package)
  if(CMAKE_CXX_COMPILER)
    find_package(${name} QUIET)
  endif()
  if(NOT ${name}_FOUND)
    fathom_lacks(${name} ${package})
  endif()
endmacro()

check_language(CXX)
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)  # without it CMake does not know where libraries lie
else()
  fathom_lacks("a C++ compiler" g++)
endif()
fathom_needs(TBB libtbb-dev)
fathom_needs(hwy libhwy-dev)
if(FATHOM_IO)
  fathom_needs(PNG libpng-dev)
  fathom_needs(TIFF libtiff-dev)
  fathom_needs(ZLIB zlib1g-dev)
  # Only the definitions of the headers' fields are used, so a path is enough.
  find_path(FATHOM_NIFTI_INCLUDE_DIR nifti1.h PATH_SUFFIXES nifti)
  if(NOT FATHOM_NIFTI_INCLUDE_DIR)
    fathom_lacks(nifti1.h libnifti-dev)
  endif()
endif()
if(FATHOM_CLI)
  fathom_needs(CLI11 libcli11-dev)
  fathom_needs(fmt libfmt-dev)
  fathom_needs(nlohmann_json nlohmann-json3-dev)
  fathom_needs(PkgConfig pkg-config)
  if(PkgConfig_FOUND)
    pkg_check_modules(CAIRO QUIET IMPORTED_TARGET cairo)
  endif()
  if(NOT CAIRO_FOUND)
    fathom_lacks(cairo libcairo2-dev)
  endif()
endif()

if(fathom_missing)
  list(JOIN fathom_missing ", " fathom_missing)
  list(JOIN fathom_missing_packages " " fathom_missing_packages)
  message(FATAL_ERROR "Fathom needs what is not found here: ${fathom_missing}.\n"
                      "On Debian and Ubuntu, as root:\n  apt-get install ${fathom_missing_packages}\n"
                      "Elsewhere: docs/building.md")
endif()
