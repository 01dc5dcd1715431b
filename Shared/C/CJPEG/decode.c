#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include "rows.h"

/// libjpeg leaves a function at an error by this way: what it allocates is in `info`, and what is ours is in `rows` and `line`.
typedef struct {
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_decompress_struct info;
    jmp_buf out;
    int has_memory;
    hg_rows rows;
    /// A row, and what was allocated for it.
    uint8_t *line, *line_memory;
    char *message;
} decoding;

static void leave(j_common_ptr info) {
    decoding *of = info->client_data;
    if (info->err->msg_code == JERR_OUT_OF_MEMORY) of->has_memory = 0;
    char text[JMSG_LENGTH_MAX];
    info->err->format_message(info, text);
    snprintf(of->message, HG_JPEG_MESSAGE, "%s", text);
    longjmp(of->out, 1);
}

/// Damage within a scan is a warning: the decoder goes on at the next place that it recognises.
static void ignore(j_common_ptr info, int level) {
    if (level < 0) info->err->num_warnings++;
}

static void say_nothing(j_common_ptr info) { (void)info; }

static void begin_source(j_decompress_ptr info) { (void)info; }

/// The whole file is there from the start, so that a decoder that wants more has one that was cut off.
static boolean refill(j_decompress_ptr info) {
    ERREXIT(info, JERR_INPUT_EOF);
    return FALSE;
}

static void skip(j_decompress_ptr info, long count) {
    if (count <= 0) return;
    if ((size_t)count > info->src->bytes_in_buffer) ERREXIT(info, JERR_INPUT_EOF);
    info->src->next_input_byte += count;
    info->src->bytes_in_buffer -= (size_t)count;
}

static void end_source(j_decompress_ptr info) { (void)info; }

static void open_file(decoding *of, const void *file, size_t size) {
    of->info.err = jpeg_std_error(&of->errors);
    of->errors.error_exit = leave;
    of->errors.emit_message = ignore;
    of->errors.output_message = say_nothing;
    of->info.client_data = of;
    jpeg_create_decompress(&of->info);
    of->source = (struct jpeg_source_mgr){
        .next_input_byte = file, .bytes_in_buffer = size, .init_source = begin_source, .fill_input_buffer = refill,
        .skip_input_data = skip, .resync_to_restart = jpeg_resync_to_restart, .term_source = end_source,
    };
    of->info.src = &of->source;
    jpeg_read_header(&of->info, TRUE);
}

static hg_jpeg_fault run(decoding *of, const void *file, size_t size, hg_jpeg_order order) {
    open_file(of, file, size);
    if (of->info.image_width != order.width || of->info.image_height != order.height) {
        snprintf(of->message, HG_JPEG_MESSAGE, "not of the size that was checked");
        return HG_JPEG_CORRUPT;
    }
    const J_COLOR_SPACE colours = of->info.jpeg_color_space;
    if (colours != JCS_GRAYSCALE && colours != JCS_RGB && colours != JCS_YCbCr) return HG_JPEG_OTHER_COLOURS;
    const unsigned long_side = order.width > order.height ? order.width : order.height, max_side = (unsigned)order.max_side;
    unsigned shrink = 1;
    while (shrink < 8 && (size_t)shrink * 2 * max_side <= long_side) shrink *= 2;
    of->info.scale_num = 1;
    of->info.scale_denom = shrink;
    jpeg_calc_output_dimensions(&of->info);
    const int width = (int)of->info.output_width, height = (int)of->info.output_height, side = width > height ? width : height;
    const double scale = side > order.max_side ? (double)order.max_side / side : 1;
    const int to_width = (int)fmax(1, lround(width * scale)), to_height = (int)fmax(1, lround(height * scale));
    if (!hg_rows_create(&of->rows, width, height, to_width, to_height, order.orientation)) return HG_JPEG_NO_MEMORY;
    of->info.out_color_space = hg_rows_reduces(&of->rows) ? JCS_EXT_RGBX : JCS_RGB;
    // To a row that is aligned to 32 bytes, libjpeg-turbo writes past the cache, from which it is read here.
    of->line_memory = malloc((size_t)width * 4 + 64);
    if (of->line_memory == NULL) return HG_JPEG_NO_MEMORY;
    of->line = of->line_memory + (32 - (uintptr_t)of->line_memory % 32) + 16;
    jpeg_start_decompress(&of->info);
    while (of->info.output_scanline < of->info.output_height) {
        const int row = (int)of->info.output_scanline;
        JSAMPROW line = of->line;
        if (jpeg_read_scanlines(&of->info, &line, 1) == 1) hg_rows_take(&of->rows, row, of->line);
    }
    return HG_JPEG_OK;
}

hg_jpeg_fault hg_jpeg_decode(const void *file, size_t size, hg_jpeg_order order, hg_jpeg_picture *picture,
                             char message[HG_JPEG_MESSAGE]) {
    *picture = (hg_jpeg_picture){0};
    message[0] = 0;
    if (order.max_side < 1 || order.orientation < 1 || order.orientation > 8) return HG_JPEG_CORRUPT;
    // In memory of its own, because what is on the stack may have any value after a jump.
    decoding *of = calloc(1, sizeof *of);
    if (of == NULL) return HG_JPEG_NO_MEMORY;
    of->message = message;
    of->has_memory = 1;
    hg_jpeg_fault fault = HG_JPEG_CORRUPT;
    if (setjmp(of->out) == 0) {
        fault = run(of, file, size, order);
    } else {
        fault = of->has_memory ? HG_JPEG_CORRUPT : HG_JPEG_NO_MEMORY;
    }
    if (fault == HG_JPEG_OK) {
        const int turned = order.orientation >= 5;
        *picture = (hg_jpeg_picture){
            of->rows.pixels, turned ? of->rows.height : of->rows.width, turned ? of->rows.width : of->rows.height,
        };
        of->rows.pixels = NULL;
    }
    jpeg_destroy_decompress(&of->info);
    hg_rows_destroy(&of->rows);
    free(of->line_memory);
    free(of);
    return fault;
}
