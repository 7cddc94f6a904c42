# Puts the server's page, its style, its scripts and the parts of the report's page that draw attention maps, with the
# chart library, into one C++ source, page_source.cpp.
#
#   cmake -D page=FOLDER -D report=FOLDER -D vega=FOLDER -D out=FILE -P embed_serve_page.cmake
include(${CMAKE_CURRENT_LIST_DIR}/../report/embed_parts.cmake)

read_vega(library ${report} ${vega})
set(script "")
append_scripts(script ${page} state)  # makes `runs` and `report`, which the report's scripts read
append_scripts(script ${report} elements numbers theme tip chart pixels heat_map choices attention attention_view)
append_scripts(script ${page} requests answers settings maps page)

file(READ ${page}/page.html html)
file(READ ${report}/page.css style)
file(READ ${page}/page.css part)
string(APPEND style "\n${part}")
file(READ ${report}/licences.txt licences)
foreach(name style licences library script)
  string(REPLACE "{{${name}}}" "${${name}}" html "${html}")
endforeach()

write_page_source(${out} "${html}"
  "// Written by embed_serve_page.cmake; not to be edited.\n
#include \"serve/page_source.h\"\n\nnamespace synthesizer::serve {\n\nconst std::string_view kServePage =\n"
  ";\n\n}  // namespace synthesizer::serve\n")
