# The compiler and the architectures where the user names none; included before CMake's CUDA language is enabled.
if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc) # NVIDIA's own packages put no nvcc on PATH
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90) # Ampere and Hopper; nvcc 13 no longer knows CMake's own default
endif()
