# find_package(Incc): incc in builds with CMake.
#
#   incc_analyze(TARGET [CORE NAME…] [OUTPUT DIR] [MODE lean|full] [DEFER])
#
# has incc stand before the compiler of one target, and only of that: each source that is compiled for it has a report in
# DIR (incc-reports in the build folder; a relative name is in the build folder). What the compiler makes is the same.
# With several CORE each loop is analysed for each of them. MODE and DEFER are what INCC_MODE and INCC_DEFER are.
#
# incc stands in front of a launcher that the target has already and that it knows (ccache, distcc …), so that what
# ccache finds is reported on, too; behind any other.
#
# The target `incc-report` builds all targets that are analysed and ranks their loops, whatever the folders.
#
# Defined too: INCC_EXECUTABLE, INCC_REPORT_EXECUTABLE, Incc_FOUND, Incc_VERSION.

cmake_minimum_required(VERSION 3.17)

# Beside this file's own installation first: <prefix>/share/cmake/Incc and <prefix>/bin.
get_filename_component(_incc_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_program(INCC_EXECUTABLE incc HINTS "${_incc_prefix}/bin")
find_program(INCC_REPORT_EXECUTABLE incc-report HINTS "${_incc_prefix}/bin")
# A tenth of the time of `cmake -E env`, once a source.
find_program(INCC_ENV_EXECUTABLE env)
unset(_incc_prefix)
mark_as_advanced(INCC_EXECUTABLE INCC_REPORT_EXECUTABLE INCC_ENV_EXECUTABLE)

if(NOT INCC_EXECUTABLE)
  set(Incc_FOUND FALSE)
  set(Incc_NOT_FOUND_MESSAGE "the program incc was not found: set INCC_EXECUTABLE, or put it in PATH")
  return()
endif()

function(incc_analyze target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "DEFER" "OUTPUT;MODE" "CORE")
  set(me "incc_analyze(${target})")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "${me}: there is no target ${target}")
  endif()
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${me}: cannot read ${arg_UNPARSED_ARGUMENTS} ${arg_KEYWORDS_MISSING_VALUES}; it is "
                        "incc_analyze(TARGET [CORE NAME…] [OUTPUT DIR] [MODE lean|full] [DEFER])")
  endif()
  if(arg_MODE AND NOT arg_MODE MATCHES "^(lean|full)$")
    message(FATAL_ERROR "${me}: MODE is lean or full, not ${arg_MODE}")
  endif()
  if(arg_OUTPUT MATCHES "\\$<")
    message(FATAL_ERROR "${me}: OUTPUT is a folder's name, without generator expressions. Objects of different "
                        "configurations have reports of their own in one folder")
  endif()

  get_target_property(aliased ${target} ALIASED_TARGET)
  if(aliased)
    set(target ${aliased})
  endif()
  get_target_property(imported ${target} IMPORTED)
  get_target_property(type ${target} TYPE)
  if(imported)
    message(FATAL_ERROR "${me}: it is imported, so that nothing is compiled for it here; incc-scan reads libraries")
  endif()
  if(NOT type MATCHES "^(EXECUTABLE|(STATIC|SHARED|MODULE|OBJECT)_LIBRARY)$")
    message(FATAL_ERROR "${me}: nothing is compiled for it (${type}); name a target that uses it")
  endif()
  get_target_property(analyzed ${target} INCC_ANALYZED)
  if(analyzed)
    message(FATAL_ERROR "${me}: it is analysed already; several cores are CORE NAME NAME…")
  endif()
  set_target_properties(${target} PROPERTIES INCC_ANALYZED ON)
  if(NOT CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
    # Others have no launchers.
    message(WARNING "${me}: the generator ${CMAKE_GENERATOR} cannot; take Ninja or Unix Makefiles")
    return()
  endif()

  if(NOT arg_OUTPUT)
    set(arg_OUTPUT incc-reports)
  endif()
  get_filename_component(output "${arg_OUTPUT}" ABSOLUTE BASE_DIR "${CMAKE_BINARY_DIR}")
  file(MAKE_DIRECTORY "${output}")
  set(launcher "${INCC_ENV_EXECUTABLE}")
  if(NOT launcher)
    set(launcher "${CMAKE_COMMAND}" -E env)
  endif()
  list(APPEND launcher INCC_ANALYZE=1 INCC_FORMAT=json "INCC_OUTPUT=${output}")
  if(arg_CORE)
    list(JOIN arg_CORE "," cores)
    list(APPEND launcher "INCC_MCPU=${cores}")
  endif()
  if(arg_MODE)
    list(APPEND launcher "INCC_MODE=${arg_MODE}")
  endif()
  if(arg_DEFER)
    list(APPEND launcher INCC_DEFER=1)
  endif()

  foreach(language C CXX Fortran OBJC OBJCXX)
    get_target_property(given ${target} ${language}_COMPILER_LAUNCHER)
    if(NOT given)
      set(given "")
    endif()
    # Once is enough.
    list(FILTER given EXCLUDE REGEX "^(.*/)?incc$")
    set(before "")
    set(behind "")
    foreach(word IN LISTS given)
      if(behind OR word MATCHES "^(.*/)?(ccache|sccache|distcc|buildcache|icecc)$")
        list(APPEND behind "${word}")
      else()
        list(APPEND before "${word}")
      endif()
    endforeach()
    # Without the empty words that joining them would make.
    set(words ${before} ${launcher} "${INCC_EXECUTABLE}" ${behind})
    set_target_properties(${target} PROPERTIES ${language}_COMPILER_LAUNCHER "${words}")
  endforeach()

  if(NOT INCC_REPORT_EXECUTABLE)
    return()
  endif()
  if(NOT TARGET incc-report)
    add_custom_target(
      incc-report
      COMMAND "${INCC_REPORT_EXECUTABLE}" --drain "$<TARGET_PROPERTY:incc-report,INCC_OUTPUTS>"
      COMMAND_EXPAND_LISTS USES_TERMINAL VERBATIM)
    set_target_properties(incc-report PROPERTIES INCC_OUTPUTS "")
  endif()
  # Not if it is somebody else's.
  get_target_property(outputs incc-report INCC_OUTPUTS)
  if(NOT outputs STREQUAL "outputs-NOTFOUND")
    list(APPEND outputs "${output}")
    list(REMOVE_DUPLICATES outputs)
    set_target_properties(incc-report PROPERTIES INCC_OUTPUTS "${outputs}")
    add_dependencies(incc-report ${target})
  endif()
endfunction()
