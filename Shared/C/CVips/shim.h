// libvips. Its operations are run by name, through GObject's properties, as its variadic functions cannot be called from Swift.
#pragma once
#include <vips/vips.h>
#include <vips/vector.h>
#if defined(__linux__)
#include <malloc.h>
#endif
