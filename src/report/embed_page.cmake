# Puts page.html, its style, its scripts and the chart library into one C++ source, page_template.cpp.
#
#   cmake -D page=FOLDER -D vega=FOLDER -D out=FILE -P embed_page.cmake

# Vega's parts, each after those it needs, and the page's scripts, each after those it uses as it is read.
set(vega_parts util time format loader statistics canvas dataflow scale scenegraph expression selection functions
    runtime transforms view-transforms encode label event-selector parser view)
set(scripts elements numbers runs theme tip chart line_chart scatter_chart pixels heat_map choices
    table curves trade_offs attention attention_view histograms moved mixtures samples settings page)

set(library "")
file(READ ${page}/vega_begin.js part)
string(APPEND library "${part}")
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
string(APPEND library "${part}")

set(script "")
foreach(name ${scripts})
  file(READ ${page}/${name}.js part)
  string(APPEND script "${part}\n")
endforeach()

file(READ ${page}/page.html html)
file(READ ${page}/page.css style)
file(READ ${page}/licences.txt licences)
foreach(name style licences library script)
  string(REPLACE "{{${name}}}" "${${name}}" html "${html}")
endforeach()

# A string literal of half a megabyte is too long for some compilers: pieces, joined by the compiler.
set(source "// Written by embed_page.cmake from the files of report/page/ and Vega; not to be edited.\n
#include \"report/page_template.h\"\n\nnamespace synthesizer {\n\nconst std::string_view kPageTemplate =\n")
string(LENGTH "${html}" length)
set(begin 0)
while(begin LESS length)
  string(SUBSTRING "${html}" ${begin} 15000 piece)
  string(APPEND source "R\"~page~(${piece})~page~\"\n")
  math(EXPR begin "${begin} + 15000")
endwhile()
string(APPEND source ";\n\n}  // namespace synthesizer\n")
file(WRITE ${out} "${source}")
