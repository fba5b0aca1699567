// The kernels of kernels.cu, whose text is HIP as well.
#include <hip/hip_runtime.h>

#include "kernels.cu"
