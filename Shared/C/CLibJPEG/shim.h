// libjpeg-turbo. Only CJPEG uses it: its errors leave a function by longjmp, which Swift code must not do.
#pragma once
#include <stddef.h>
#include <stdio.h>
#include <jpeglib.h>
