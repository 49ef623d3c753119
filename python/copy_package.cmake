# Copies the package's folder FROM to TO, and takes away modules there that the package has no more.
file(GLOB_RECURSE old RELATIVE ${TO} ${TO}/*.py)
foreach(module IN LISTS old)
  if(NOT EXISTS ${FROM}/${module})
    file(REMOVE ${TO}/${module})
  endif()
endforeach()
file(COPY ${FROM}/ DESTINATION ${TO} PATTERN __pycache__ EXCLUDE)
