// libvips, and a typed function for each of its variadic operations that is used: Swift cannot call those.
#pragma once
#include <vips/vips.h>

/// Warnings about a stranger's picture do not belong on the standard error.
static inline void hg_vips_drop_message(const gchar *domain, GLogLevelFlags level, const gchar *text, gpointer data) {
    (void)domain, (void)level, (void)text, (void)data;
}

/// Starts libvips for untrusted pictures: loaders that are not meant for them are blocked, no operation is cached, and
/// every operation computes on the thread that asks (plus one of libvips' own). Returns 0 on success.
static inline int hg_vips_start(void) {
    if (VIPS_INIT("heliograph") != 0) return -1;
    vips_block_untrusted_set(TRUE);
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    vips_cache_set_max_mem(0);
    g_log_set_handler("VIPS", (GLogLevelFlags)(G_LOG_LEVEL_MASK & ~G_LOG_LEVEL_ERROR), hg_vips_drop_message, NULL);
    return 0;
}

/// The loaders read the header only; pixels are decoded when they are asked for, from top to bottom.
static inline VipsImage *hg_vips_load_jpeg(const void *bytes, size_t count, int shrink) {
    VipsImage *image = NULL;
    vips_jpegload_buffer((void *)bytes, count, &image, "shrink", shrink, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on",
                         VIPS_FAIL_ON_TRUNCATED, NULL);
    return image;
}

static inline VipsImage *hg_vips_load_png(const void *bytes, size_t count) {
    VipsImage *image = NULL;
    vips_pngload_buffer((void *)bytes, count, &image, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on",
                        VIPS_FAIL_ON_TRUNCATED, NULL);
    return image;
}

static inline VipsImage *hg_vips_load_webp(const void *bytes, size_t count, double scale) {
    VipsImage *image = NULL;
    vips_webpload_buffer((void *)bytes, count, &image, "scale", scale, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on",
                         VIPS_FAIL_ON_TRUNCATED, NULL);
    return image;
}

static inline VipsImage *hg_vips_load_heif(const void *bytes, size_t count) {
    VipsImage *image = NULL;
    vips_heifload_buffer((void *)bytes, count, &image, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on",
                         VIPS_FAIL_ON_TRUNCATED, NULL);
    return image;
}

/// Scales by averaging and linear interpolation.
static inline VipsImage *hg_vips_resize(VipsImage *image, double scale) {
    VipsImage *result = NULL;
    vips_resize(image, &result, scale, "kernel", VIPS_KERNEL_LINEAR, NULL);
    return result;
}

/// Turns the picture as its EXIF orientation says. The picture must be in memory.
static inline VipsImage *hg_vips_turn_upright(VipsImage *image) {
    VipsImage *result = NULL;
    vips_autorot(image, &result, NULL);
    return result;
}

/// Converts to sRGB.
static inline VipsImage *hg_vips_to_srgb(VipsImage *image) {
    VipsImage *result = NULL;
    vips_colourspace(image, &result, VIPS_INTERPRETATION_sRGB, NULL);
    return result;
}

/// Lays the picture on black when it is transparent.
static inline VipsImage *hg_vips_flatten(VipsImage *image) {
    VipsImage *result = NULL;
    vips_flatten(image, &result, NULL);
    return result;
}

/// Takes the first `count` bands.
static inline VipsImage *hg_vips_first_bands(VipsImage *image, int count) {
    VipsImage *result = NULL;
    vips_extract_band(image, &result, 0, "n", count, NULL);
    return result;
}

/// Converts to eight bits a band.
static inline VipsImage *hg_vips_to_bytes(VipsImage *image) {
    VipsImage *result = NULL;
    vips_cast(image, &result, VIPS_FORMAT_UCHAR, NULL);
    return result;
}
