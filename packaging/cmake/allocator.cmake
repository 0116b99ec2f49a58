# What executables that hold graphs link. A graph is many small allocations: with jemalloc instead of glibc's malloc, canonical form, matching
# and rewriting of a 94-layer model take 60 % of the time (tests/bench/fusion_bench). Empty under a sanitizer, which brings an allocator of its own.
option(WORKBENCH_JEMALLOC "Allocate with jemalloc" ON)

set(found FALSE)
find_library(JEMALLOC_LIBRARY jemalloc)
mark_as_advanced(JEMALLOC_LIBRARY)
if(JEMALLOC_LIBRARY)
    set(found TRUE)
endif()
workbench_optional_part(WORKBENCH_JEMALLOC "jemalloc" "the library" ${found})

add_library(workbench_allocator INTERFACE)
if(WORKBENCH_JEMALLOC AND NOT WORKBENCH_SANITIZE)
    target_link_libraries(workbench_allocator INTERFACE ${JEMALLOC_LIBRARY})
endif()
