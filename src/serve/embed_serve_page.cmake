# Puts the server's page, its style, its scripts and the parts of the report's page that draw attention maps, with the
# chart library, into one C++ source, page_source.cpp.
#
#   cmake -D page=FOLDER -D report=FOLDER -D vega=FOLDER -D out=FILE -P embed_serve_page.cmake

# Vega's parts, each after those it needs, as in report/embed_page.cmake.
set(vega_parts util time format loader statistics canvas dataflow scale scenegraph expression selection functions
    runtime transforms view-transforms encode label event-selector parser view)
set(report_scripts elements numbers theme tip chart pixels heat_map choices attention attention_view)
set(own_scripts state requests answers settings maps page)

set(library "")
file(READ ${report}/vega_begin.js part)
string(APPEND library "${part}")
foreach(name ${vega_parts})
  if(NOT EXISTS ${vega}/vega-${name}.min.js)
    message(FATAL_ERROR "${vega}/vega-${name}.min.js is missing: install libjs-vega, or set SYNTHESIZER_VEGA")
  endif()
  file(READ ${vega}/vega-${name}.min.js part)
  string(REGEX REPLACE "\n//# sourceMappingURL=[^\n]*" "" part "${part}")
  string(REGEX REPLACE "selection$" "selections" module "${name}")
  string(APPEND library "define.part = \"vega-${module}\";\n${part}\n")
endforeach()
file(READ ${report}/vega_end.js part)
string(APPEND library "${part}")

# The report's scripts read `runs` and `report`, which state.js makes here.
set(script "")
file(READ ${page}/state.js part)
string(APPEND script "${part}\n")
foreach(name ${report_scripts})
  file(READ ${report}/${name}.js part)
  string(APPEND script "${part}\n")
endforeach()
foreach(name ${own_scripts})
  if(NOT name STREQUAL state)
    file(READ ${page}/${name}.js part)
    string(APPEND script "${part}\n")
  endif()
endforeach()

file(READ ${page}/page.html html)
file(READ ${report}/page.css style)
file(READ ${page}/page.css part)
string(APPEND style "\n${part}")
file(READ ${report}/licences.txt licences)
foreach(name style licences library script)
  string(REPLACE "{{${name}}}" "${${name}}" html "${html}")
endforeach()

# A string literal of half a megabyte is too long for some compilers: pieces, joined by the compiler.
set(source "// Written by embed_serve_page.cmake; not to be edited.\n
#include \"serve/page_source.h\"\n\nnamespace synthesizer::serve {\n\nconst std::string_view kServePage =\n")
string(LENGTH "${html}" length)
set(begin 0)
while(begin LESS length)
  string(SUBSTRING "${html}" ${begin} 15000 piece)
  string(APPEND source "R\"~page~(${piece})~page~\"\n")
  math(EXPR begin "${begin} + 15000")
endwhile()
string(APPEND source ";\n\n}  // namespace synthesizer::serve\n")
file(WRITE ${out} "${source}")
