# Puts page.html, its style, its scripts and the chart library into one C++ source, page_template.cpp.
#
#   cmake -D page=FOLDER -D vega=FOLDER -D out=FILE -P embed_page.cmake
include(${CMAKE_CURRENT_LIST_DIR}/embed_parts.cmake)

# The page's scripts, each after those it uses as it is read.
set(scripts elements numbers runs theme tip chart line_chart scatter_chart pixels heat_map choices
    table curves trade_offs attention attention_view histograms moved mixtures samples settings page)

read_vega(library ${page} ${vega})
set(script "")
append_scripts(script ${page} ${scripts})
file(READ ${page}/page.html html)
file(READ ${page}/page.css style)
file(READ ${page}/licences.txt licences)
foreach(name style licences library script)
  string(REPLACE "{{${name}}}" "${${name}}" html "${html}")
endforeach()

write_page_source(${out} "${html}"
  "// Written by embed_page.cmake from the files of report/page/ and Vega; not to be edited.\n
#include \"report/page_template.h\"\n\nnamespace synthesizer {\n\nconst std::string_view kPageTemplate =\n"
  ";\n\n}  // namespace synthesizer\n")
