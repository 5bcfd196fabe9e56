// From here on the device is the CPU: what a source asks of its tensors and where it makes new
// ones.
#pragma once

#define is_cuda is_cpu
#define kCUDA kCPU
#define CUDA CPU
#define cuda() cpu()
