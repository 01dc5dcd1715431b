#include "CDlib.h"
const char *hg_dlib_version(void) { return "19.24"; }
