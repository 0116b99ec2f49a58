# Headers that most sources of a kind share, parsed once per kind: parsing them is two thirds of a clean build. A source still includes what it
# uses: -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without (the tsan, tidy and cuda presets do).
#
# gcc takes a precompiled header only for the same language options (sanitizers, -fopenmp, -fPIC or -fPIE) and for sources that define all that
# was defined for it. So each kind is compiled by an object library with no more than what its users have in common.
find_package(nlohmann_json REQUIRED)

set(workbench_headers_of_all
    <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <cstdint> <filesystem> <fstream> <functional> <map> <memory> <mutex>
    <optional> <random> <set> <span> <sstream> <string> <thread> <unordered_map> <variant> <vector> <nlohmann/json.hpp>)

set(workbench_headers_cli <CLI/CLI.hpp> <spdlog/spdlog.h>)
set(workbench_libraries_cli CLI11::CLI11 spdlog::spdlog)

set(workbench_headers_drawing <QtGui/QtGui>)
set(workbench_libraries_drawing Qt6::Gui)
set(workbench_switches_drawing QT_NO_KEYWORDS)

set(workbench_headers_widgets <QtWidgets/QtWidgets>)
set(workbench_libraries_widgets Qt6::Widgets)
set(workbench_switches_widgets QT_NO_KEYWORDS QT_NO_CAST_FROM_BYTEARRAY)

set(workbench_headers_torch <ATen/core/Tensor.h> <ATen/core/dispatch/Dispatcher.h> <ATen/core/ivalue.h> <ATen/core/stack.h> <ATen/ops/empty.h>)
set(workbench_libraries_torch workbench::torch)

set(workbench_headers_test <gtest/gtest.h>)
set(workbench_libraries_test GTest::gtest)

# Without QtTest, whose switches name the folder of each test.
set(workbench_headers_test_widgets <gtest/gtest.h> <QtWidgets/QtWidgets>)
set(workbench_libraries_test_widgets GTest::gtest Qt6::Widgets)
set(workbench_switches_test_widgets ${workbench_switches_widgets})

set(workbench_headers_test_torch <gtest/gtest.h> <ATen/ATen.h> <ATen/core/dispatch/Dispatcher.h>)
set(workbench_libraries_test_torch GTest::gtest workbench::torch)

# workbench_precompile(target KIND): KIND is one of the above, or "plain" for the headers of all alone.
function(workbench_precompile target kind)
    get_target_property(type ${target} TYPE)
    set(owner workbench_headers_${kind})
    if(NOT TARGET ${owner})
        set(source ${PROJECT_BINARY_DIR}/${owner}.cpp)
        file(CONFIGURE OUTPUT ${source} CONTENT "// Compiles the precompiled headers.\n")
        add_library(${owner} OBJECT ${source})
        target_link_libraries(${owner} PRIVATE workbench_options nlohmann_json::nlohmann_json ${workbench_libraries_${kind}})
        target_compile_definitions(${owner} PRIVATE ${workbench_switches_${kind}})
        if(type STREQUAL "EXECUTABLE")
            set_target_properties(${owner} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
            target_compile_options(${owner} PRIVATE -fPIE)
        endif()
        target_precompile_headers(${owner} PRIVATE ${workbench_headers_of_all} ${workbench_headers_${kind}})
    endif()
    target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()
