#include "kernels.h"

int hg_path_available(hg_path path) { return hg_kernels_of(path) != NULL; }

hg_path hg_best_path(void) {
    if (hg_path_available(HG_PATH_VNNI)) return HG_PATH_VNNI;
    if (hg_path_available(HG_PATH_AVX512)) return HG_PATH_AVX512;
    if (hg_path_available(HG_PATH_AVX2)) return HG_PATH_AVX2;
    return HG_PATH_PORTABLE;
}

const hg_kernels *hg_kernels_of(hg_path path) {
    switch (path) {
        case HG_PATH_BEST: return hg_kernels_of(hg_best_path());
        case HG_PATH_PORTABLE: return &hg_kernels_portable;
#if defined(__x86_64__)
        // These ask whether the system saves the registers, too.
        case HG_PATH_AVX2:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &hg_kernels_avx2 : NULL;
        case HG_PATH_AVX512:
            return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
                    && __builtin_cpu_supports("avx512vl")
                ? &hg_kernels_avx512 : NULL;
        case HG_PATH_VNNI:
            return hg_path_available(HG_PATH_AVX512) && __builtin_cpu_supports("avx512vnni") ? &hg_kernels_vnni : NULL;
#endif
        default: return NULL;
    }
}
