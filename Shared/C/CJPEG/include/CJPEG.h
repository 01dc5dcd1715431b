// Decodes a JPEG file for the face engine by libjpeg-turbo: in RGB, small and upright, in one pass over its rows.
//
// The file is hostile; the caller has checked its structure and its size. All functions block and compute.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /// Bytes of the message of a fault, with its end.
    HG_JPEG_MESSAGE = 200,
};

typedef enum {
    HG_JPEG_OK,
    /// Colours that are neither grey, RGB nor YCbCr: CMYK above all.
    HG_JPEG_OTHER_COLOURS,
    /// The file is cut off, or damaged so that no picture can be made of it.
    HG_JPEG_CORRUPT,
    HG_JPEG_NO_MEMORY,
} hg_jpeg_fault;

/// How a picture is wanted.
typedef struct {
    /// Pixels of the longer side at most.
    int max_side;
    /// The EXIF orientation by which it is turned, 1 to 8.
    int orientation;
    /// The size that the caller has checked; a file that turns out to be of another one is corrupt.
    unsigned width, height;
} hg_jpeg_order;

/// RGB, 8 bits a channel, rows packed.
typedef struct {
    uint8_t *pixels;
    int width, height;
} hg_jpeg_picture;

/// Decodes a file.
///
/// The decoder reduces by a power of two, as long as `max_side` pixels are left; the rest is done by averaging areas. The caller frees the
/// pixels. After a fault there are none, and the message names it.
hg_jpeg_fault hg_jpeg_decode(const void *file, size_t size, hg_jpeg_order order, hg_jpeg_picture *picture,
                             char message[HG_JPEG_MESSAGE]);

#ifdef __cplusplus
}
#endif
