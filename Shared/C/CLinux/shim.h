#pragma once

// glibc declares renameat2(2) with _GNU_SOURCE only, which Swift's module of glibc does not define.
#if defined(__linux__)
int renameat2(int old_directory, const char *old_path, int new_directory, const char *new_path, unsigned int flags);
static const unsigned int CLINUX_RENAME_EXCHANGE = 1 << 1;
#endif
