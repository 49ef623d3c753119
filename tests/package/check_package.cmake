# Installs Fathom as a static or shared library, moves the installation, and builds and runs what users would against it.

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${result}:\n${output}")
  endif()
  set(run_output "${output}" PARENT_SCOPE)
endfunction()

set(settings -G ${generator} -D CMAKE_BUILD_TYPE=${config} -D CMAKE_CXX_COMPILER=${compiler})
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
  set(library_dir ${other_build_dir})
  run(${CMAKE_COMMAND} -S ${source_dir} -B ${library_dir} ${settings} -D BUILD_SHARED_LIBS=${shared}
      -D FATHOM_CLI=OFF -D FATHOM_BENCH=OFF -D FATHOM_PYTHON=OFF -D FATHOM_TESTS=OFF)
  string(FIND "${run_output}" "-- CUDA: left out. To have it: -D FATHOM_CUDA=ON, or with pip" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "nothing was said of CUDA:\n${run_output}")
  endif()
  run(${CMAKE_COMMAND} --build ${library_dir} --parallel ${processors})
endif()
file(REMOVE_RECURSE ${work_dir}/first ${work_dir}/moved)
run(${CMAKE_COMMAND} --install ${library_dir} --prefix ${work_dir}/first)
file(RENAME ${work_dir}/first ${work_dir}/moved)

# Nothing in the package may know where it was built or first installed.
file(GLOB_RECURSE package_files ${work_dir}/moved/*.cmake)
file(GLOB_RECURSE pc_files ${work_dir}/moved/fathom*.pc)
list(LENGTH pc_files pc_count)
if(NOT package_files OR NOT pc_count EQUAL 2)
  message(FATAL_ERROR "these were installed, and not CMake's package and two files for pkg-config: "
                      "${package_files} ${pc_files}")
endif()
list(APPEND package_files ${pc_files})
foreach(file IN LISTS package_files)
  file(READ ${file} text)
  foreach(place IN ITEMS ${source_dir} ${build_dir} ${library_dir} ${work_dir})
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

function(check_reader)
  run(${ARGN} ${source_dir}/examples/data/land.png)
  if(NOT run_output STREQUAL "1080 × 2160\n")
    message(FATAL_ERROR "the reader printed '${run_output}'")
  endif()
endfunction()

build_user(reader tests/package/reader)
check_reader(${work_dir}/reader/reader)

# The same by hand, with what pkg-config says.
list(GET pc_files 0 pc_dir)
cmake_path(GET pc_dir PARENT_PATH pc_dir)
run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc_dir} pkg-config --cflags --libs fathom-io)
separate_arguments(flags UNIX_COMMAND "${run_output}")
run(${compiler} -std=c++20 ${source_dir}/tests/package/reader/main.cpp -o ${work_dir}/reader_by_hand ${flags})
check_reader(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${pc_dir}/.. ${work_dir}/reader_by_hand)

if(EXISTS ${work_dir}/moved/bin/fathom)
  run(${work_dir}/moved/bin/fathom --version)
  # What OpenVDB takes is found beside the libraries, and missed where it is not.
  file(GLOB_RECURSE module ${work_dir}/moved/fathom-openvdb-*.so)
  if(module)
    set(write_vdb ${work_dir}/moved/bin/fathom mesh ${source_dir}/examples/data/knot.ply --resolution 20
                  -o ${work_dir}/knot.vdb)
    run(${write_vdb})
    file(REMOVE ${module})
    execute_process(COMMAND ${write_vdb} RESULT_VARIABLE result ERROR_VARIABLE error)
    if(NOT (result EQUAL 2 AND error MATCHES "what writes .vdb cannot be loaded"))
      message(FATAL_ERROR "without ${module} the command ended with ${result}:\n${error}")
    endif()
  endif()
endif()
