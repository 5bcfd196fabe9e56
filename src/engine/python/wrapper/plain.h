// What C++ without kernels is compiled with where it has names of its own that CUDA has, too: all
// of torch/extension.h, as torch's own build has it.
#pragma once

#include <torch/extension.h>

#ifndef ASSAY_ON_GPU
#include "cpu_names.h"
#endif
