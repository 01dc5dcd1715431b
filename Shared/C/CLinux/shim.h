#pragma once

// glibc declares these functions with _GNU_SOURCE only, which Swift's module of glibc does not define.
#if defined(__linux__)
#include <spawn.h>

int renameat2(int old_directory, const char *old_path, int new_directory, const char *new_path, unsigned int flags);
static const unsigned int CLINUX_RENAME_EXCHANGE = 1 << 1;
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first_descriptor);
#endif
