// Vectors of four floats, as every processor has them: NEON on ARM (32 registers, fused), SSE2 on x86-64 (16 registers).
#define LANES 4
#define ROWS 6
#if defined(__aarch64__)
#define VECTORS 4
#else
#define VECTORS 2
#endif
#define PATH HG_PATH_PORTABLE
#define KERNELS hg_kernels_portable
#include "kernels_body.h"
