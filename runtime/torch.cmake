# Makes the imported target workbench::torch: LibTorch as the PyTorch wheel brings it.
#
# The wheel of the workbench's Python environment is a CUDA build whose own CMake package needs a CUDA toolkit. A CPU build needs none: the two
# libraries and one include folder below are all that the operators and the worker use. find_package(Torch) is not used for CUDA either; the
# toolkit comes from CMake's CUDA language.
#
#   WORKBENCH_PYTHON  Python interpreter whose torch is used (cache variable or environment)
#   Torch_DIR         instead of WORKBENCH_PYTHON: <torch>/share/cmake/Torch
include_guard(GLOBAL)

set(WORKBENCH_PYTHON "" CACHE FILEPATH "Python interpreter with torch (empty: the newest environment of packaging/, else python3)")

# An interpreter: the variable, the environment variable, the environment that packaging/ made last, python3.
function(workbench_find_python result)
    set(candidate "${WORKBENCH_PYTHON}")
    if(NOT candidate)
        set(candidate "$ENV{WORKBENCH_PYTHON}")
    endif()
    if(NOT candidate)
        set(cache "$ENV{XDG_CACHE_HOME}")
        if(NOT cache)
            set(cache "$ENV{HOME}/.cache")
        endif()
        file(GLOB marks "${cache}/fusion-workbench/env-*/.complete")
        set(newest "")
        foreach(mark IN LISTS marks)
            if(newest STREQUAL "" OR mark IS_NEWER_THAN newest)
                set(newest "${mark}")
            endif()
        endforeach()
        if(newest)
            cmake_path(GET newest PARENT_PATH environment)
            set(candidate "${environment}/bin/python")
        endif()
    endif()
    if(NOT candidate)
        find_program(python3 python3 NO_CACHE)
        set(candidate "${python3}")
    endif()
    set(${result} "${candidate}" PARENT_SCOPE)
endfunction()

# The folder of the torch package. Importing torch takes seconds, finding its spec does not.
function(workbench_find_torch result)
    if(Torch_DIR)
        cmake_path(SET root NORMALIZE "${Torch_DIR}/../../..")
    else()
        workbench_find_python(python)
        execute_process(
            COMMAND "${python}" -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0], end='')"
            OUTPUT_VARIABLE root ERROR_QUIET RESULT_VARIABLE status)
        if(NOT status EQUAL 0)
            message(FATAL_ERROR "No torch was found in the Python '${python}': set WORKBENCH_PYTHON to an interpreter that has it "
                "(packaging/run makes one), or Torch_DIR to its share/cmake/Torch folder.")
        endif()
    endif()
    if(NOT EXISTS "${root}/lib/libtorch_cpu.so")
        message(FATAL_ERROR "${root} has no lib/libtorch_cpu.so: it is not a PyTorch installation.")
    endif()
    set(${result} "${root}" PARENT_SCOPE)
endfunction()

workbench_find_torch(WORKBENCH_TORCH_ROOT)
message(STATUS "LibTorch: ${WORKBENCH_TORCH_ROOT}")

add_library(workbench::torch INTERFACE IMPORTED GLOBAL)
target_include_directories(workbench::torch SYSTEM INTERFACE "${WORKBENCH_TORCH_ROOT}/include")
target_compile_definitions(workbench::torch INTERFACE _GLIBCXX_USE_CXX11_ABI=1)
# at::parallel_for is a template over an OpenMP region: without this flag it silently runs on one thread. The runtime is the wheel's own, so
# that a process holds one.
target_compile_options(workbench::torch INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fopenmp>)
file(GLOB workbench_openmp "${WORKBENCH_TORCH_ROOT}/lib/libgomp*.so*")
if(NOT workbench_openmp)
    set(workbench_openmp gomp)
endif()
target_link_libraries(workbench::torch INTERFACE
    "${WORKBENCH_TORCH_ROOT}/lib/libtorch_cpu.so" "${WORKBENCH_TORCH_ROOT}/lib/libc10.so" ${workbench_openmp})

if(WORKBENCH_CUDA)
    if(NOT EXISTS "${WORKBENCH_TORCH_ROOT}/lib/libtorch_cuda.so")
        message(FATAL_ERROR "WORKBENCH_CUDA is on, but the torch in ${WORKBENCH_TORCH_ROOT} was built without CUDA.")
    endif()
    include("${CMAKE_CURRENT_LIST_DIR}/cuda_defaults.cmake")
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    target_link_libraries(workbench::torch INTERFACE
        "${WORKBENCH_TORCH_ROOT}/lib/libtorch_cuda.so" "${WORKBENCH_TORCH_ROOT}/lib/libc10_cuda.so" CUDA::cudart)
endif()
