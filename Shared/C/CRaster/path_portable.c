// The instructions that every processor has: NEON on ARM, SSE2 on x86-64.
#define PATH hg_raster_portable
#include "rows_body.h"
#include "steps_body.h"
