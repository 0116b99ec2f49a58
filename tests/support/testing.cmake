find_package(GTest REQUIRED)
find_package(Threads REQUIRED)

# workbench_tests_here(tests [EXCEPT b_test.cpp ...]): the folder's *_test.cpp, so that a new one is built without a word in its CMakeLists.txt.
function(workbench_tests_here tests)
    cmake_parse_arguments(ARG "" "" "EXCEPT" ${ARGN})
    file(GLOB found CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp)
    if(ARG_EXCEPT)
        list(REMOVE_ITEM found ${ARG_EXCEPT})
    endif()
    set(${tests} ${found} PARENT_SCOPE)
endfunction()

# workbench_test(name LABELS pure SOURCES a_test.cpp ... LIBS workbench_core ...): one GoogleTest executable, each TEST a ctest test.
function(workbench_test name)
    cmake_parse_arguments(ARG "" "" "LABELS;SOURCES;LIBS" ${ARGN})
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE workbench_options ${ARG_LIBS} GTest::gtest GTest::gtest_main Threads::Threads)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    if("torch" IN_LIST ARG_LABELS)
        workbench_precompile(${name} test_torch)
    elseif(NOT "gui" IN_LIST ARG_LABELS) # some link Qt, some do not
        workbench_precompile(${name} test)
    endif()
    gtest_discover_tests(${name} PROPERTIES LABELS "${ARG_LABELS}" DISCOVERY_TIMEOUT 60 DISCOVERY_MODE PRE_TEST)
endfunction()

# workbench_pytest(name LABELS torch PATHS tests/python/tracer ...): one pytest run in the project's Python environment.
function(workbench_pytest name)
    cmake_parse_arguments(ARG "" "TIMEOUT" "LABELS;PATHS" ${ARGN})
    if(NOT WORKBENCH_PYTHON)
        message(WARNING "The Python tests of ${name} are left out: set WORKBENCH_PYTHON (packaging/test makes the environment)")
        return()
    endif()
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 2400) # seconds; a busy machine needs several times what a quiet one does
    endif()
    add_test(NAME ${name} COMMAND ${WORKBENCH_PYTHON} -m pytest -q -p no:cacheprovider ${ARG_PATHS}
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT
        "PYTHONPATH=${PROJECT_SOURCE_DIR}/resources/python;PYTHONDONTWRITEBYTECODE=1;WORKBENCH_BIN=${CMAKE_BINARY_DIR}/bin/workbench;WORKBENCH_OPS_LIBRARY=$<$<TARGET_EXISTS:workbench_ops>:$<TARGET_FILE:workbench_ops>>;HF_HUB_OFFLINE=1;OMP_NUM_THREADS=1")
endfunction()
