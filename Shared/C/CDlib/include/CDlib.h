#pragma once
const char *hg_dlib_version(void);
