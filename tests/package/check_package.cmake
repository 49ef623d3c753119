# Installs Fathom as a static or shared library, moves the installation, and builds and runs what users would against it.

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${result}:\n${output}")
  endif()
  set(run_output "${output}" PARENT_SCOPE)
endfunction()

set(settings -G ${generator} -D CMAKE_BUILD_TYPE=${config} -D CMAKE_CXX_COMPILER=${compiler}
             -D CMAKE_CXX_COMPILER_LAUNCHER=${launcher})
cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)

# Installs from this build, or from one of the other kind.
if(kind STREQUAL "shared")
  set(shared ON)
else()
  set(shared OFF)
endif()
if((shared AND build_is_shared) OR NOT (shared OR build_is_shared))
  set(library_dir ${build_dir})
else()
  set(library_dir ${work_dir}/library)
  run(${CMAKE_COMMAND} -S ${source_dir} -B ${library_dir} ${settings} -D BUILD_SHARED_LIBS=${shared}
      -D FATHOM_CLI=OFF -D FATHOM_BENCH=OFF -D FATHOM_TESTS=OFF)
  run(${CMAKE_COMMAND} --build ${library_dir} --parallel ${processors})
endif()
file(REMOVE_RECURSE ${work_dir}/first ${work_dir}/moved)
run(${CMAKE_COMMAND} --install ${library_dir} --prefix ${work_dir}/first)
file(RENAME ${work_dir}/first ${work_dir}/moved)

# Nothing in the package may know where it was built or first installed.
file(GLOB_RECURSE package_files ${work_dir}/moved/*.cmake)
if(NOT package_files)
  message(FATAL_ERROR "no CMake package was installed")
endif()
foreach(file IN LISTS package_files)
  file(READ ${file} text)
  foreach(place IN ITEMS ${source_dir} ${build_dir} ${work_dir})
    string(FIND "${text}" "${place}" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "${file} names ${place}")
    endif()
  endforeach()
endforeach()

function(build_user name)
  file(REMOVE_RECURSE ${work_dir}/${name})
  run(${CMAKE_COMMAND} -S ${source_dir}/${ARGV1} -B ${work_dir}/${name} ${settings}
      -D CMAKE_PREFIX_PATH=${work_dir}/moved -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
  run(${CMAKE_COMMAND} --build ${work_dir}/${name})
endfunction()

build_user(example examples/cmake-project)
run(${work_dir}/example/small_field)
string(CONCAT expected " 1.414 1.000 1.414 2.236 3.162\n"
                       " 1.000 0.000 1.000 2.000 3.000\n"
                       " 1.414 1.000 1.414 2.236 3.162\n")
if(NOT run_output STREQUAL expected)
  message(FATAL_ERROR "the example printed\n${run_output}instead of\n${expected}")
endif()

build_user(reader tests/package/reader)
run(${work_dir}/reader/reader ${source_dir}/examples/data/land.png)
if(NOT run_output STREQUAL "1080 × 2160\n")
  message(FATAL_ERROR "the reader printed '${run_output}'")
endif()

if(EXISTS ${work_dir}/moved/bin/fathom)
  run(${work_dir}/moved/bin/fathom --version)
endif()
