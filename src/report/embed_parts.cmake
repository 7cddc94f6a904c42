# What the pages that are embedded in the program have in common: included by embed_page.cmake and
# serve/embed_serve_page.cmake.

# Vega's parts, each after those it needs.
set(vega_parts util time format loader statistics canvas dataflow scale scenegraph expression selection functions
    runtime transforms view-transforms encode label event-selector parser view)

# read_vega(VARIABLE PAGE VEGA): the chart library as one script; PAGE has its first and last lines.
function(read_vega variable page vega)
  file(READ ${page}/vega_begin.js library)
  foreach(name ${vega_parts})
    if(NOT EXISTS ${vega}/vega-${name}.min.js)
      message(FATAL_ERROR "${vega}/vega-${name}.min.js is missing: install libjs-vega, or set SYNTHESIZER_VEGA")
    endif()
    file(READ ${vega}/vega-${name}.min.js part)
    # Maps of the minified sources are for debuggers, which would ask for them over the network.
    string(REGEX REPLACE "\n//# sourceMappingURL=[^\n]*" "" part "${part}")
    string(REGEX REPLACE "selection$" "selections" module "${name}")  # the one whose file is named otherwise
    string(APPEND library "define.part = \"vega-${module}\";\n${part}\n")
  endforeach()
  file(READ ${page}/vega_end.js part)
  set(${variable} "${library}${part}" PARENT_SCOPE)
endfunction()

# append_scripts(VARIABLE FOLDER NAME…): the scripts of a folder, one after the other, behind those that are there.
function(append_scripts variable folder)
  set(script "${${variable}}")
  foreach(name ${ARGN})
    file(READ ${folder}/${name}.js part)
    string(APPEND script "${part}\n")
  endforeach()
  set(${variable} "${script}" PARENT_SCOPE)
endfunction()

# write_page_source(OUT HTML BEGIN END): the page as a string between two pieces of C++. A literal of half a megabyte is
# too long for some compilers: pieces, joined by the compiler.
function(write_page_source out html begin_text end_text)
  set(source "${begin_text}")
  string(LENGTH "${html}" length)
  set(begin 0)
  while(begin LESS length)
    string(SUBSTRING "${html}" ${begin} 15000 piece)
    string(APPEND source "R\"~page~(${piece})~page~\"\n")
    math(EXPR begin "${begin} + 15000")
  endwhile()
  file(WRITE ${out} "${source}${end_text}")
endfunction()
