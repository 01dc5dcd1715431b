// A network that an operator supplies as a list of layers, and what its loader checks of it. The file is that of a flat model
// (deploy/local/convert-passive-model.py writes its arrays); its lists and numbers are not trusted.
#pragma once

#include "model_file.h"

enum {
    HG_KIND_PASSIVE = 4,
    /// Limits of a network.
    HG_MAX_LAYERS = 256,
    HG_MAX_CHANNELS = 4096,
    HG_MIN_INPUT_SIDE = 8,
    HG_MAX_INPUT_SIDE = 512,
    HG_MAX_CLASSES = 16,
    HG_MAX_STEP = 8,
    HG_MAX_SLOTS = HG_MAX_LAYERS + 1,
};

/// Multiply-adds for a face, and floats of all its maps together with the copy with a border that a convolution reads.
#define HG_MAX_MULTIPLY_ADDS 2000000000ull
#define HG_MAX_MAP_FLOATS (16ull * 1024 * 1024)

/// The multiply-adds that take the time of the activation of a float.
#define HG_ACTIVATION_COST 16

typedef enum { HG_LAYER_DENSE = 1, HG_LAYER_DEPTHWISE, HG_LAYER_ADD, HG_LAYER_MULTIPLY, HG_LAYER_AVERAGE, HG_LAYER_GREATEST } hg_layer_kind;

/// What a layer does to its result. Slopes are the factors of negative numbers, one a channel.
typedef enum {
    HG_ACTIVATE_NOT,
    HG_ACTIVATE_SLOPES,
    HG_ACTIVATE_RELU6,
    HG_ACTIVATE_SIGMOID,
    HG_ACTIVATE_HARD_SIGMOID,
    HG_ACTIVATE_HARD_SWISH,
} hg_activation;

/// A layer as it is in the file. Values are numbered: 0 is the picture, and n the result of the n-th layer.
typedef struct {
    uint32_t kind, input, second, channels;
    uint32_t kernel_height, kernel_width, step_down, step_across;
    uint32_t top, left, bottom, right;
    uint32_t activation, unused[3];
} hg_layer_record;

/// A map of a network. Channels are adjacent, and filled up to a multiple of 16.
typedef struct {
    int channels, filled, height, width;
} hg_shape;

typedef struct {
    hg_layer_record is;
    hg_shape shape;
    /// Where the result is kept: values that are not needed at the same time share a slot.
    int slot;
    hg_dense dense;
    /// The kernel of CFaceNet for the usual depthwise layer, of 3x3 pixels with a border; else only its arrays are used.
    hg_depthwise depthwise;
    int is_usual;
    const float *slopes;
} hg_layer;

struct hg_passive {
    const hg_kernels *kernels;
    hg_arena arena;
    hg_passive_facts facts;
    /// The seed of the picture whose results, `expected`, were computed when the file was made.
    uint32_t seed;
    float mean[3], factor[3], expected[HG_MAX_CLASSES];
    int is_blue_first, is_square, output;
    hg_shape input;
    int layer_count, slot_count, input_slot;
    hg_layer layers[HG_MAX_LAYERS];
    /// Floats of each slot, and of the largest copy with a border.
    size_t slots[HG_MAX_SLOTS], border;
};

/// Whether a layer reads two values.
static inline int hg_layer_is_pair(const hg_layer *layer) { return layer->is.kind == HG_LAYER_ADD || layer->is.kind == HG_LAYER_MULTIPLY; }

/// How results become shares of the classes.
enum { HG_OUTPUT_AS_IS, HG_OUTPUT_SOFTMAX, HG_OUTPUT_SIGMOID };

/// Derives the shapes of a network's values and the slots of memory. Returns 0 for a list that fits no network or exceeds a limit.
int hg_passive_plan(hg_passive *model);

/// Computes one layer. `second` is the other input of a pair, and `border` space for a copy with a border.
void hg_layer_run(const hg_kernels *kernels, const hg_layer *layer, hg_shape in, const float *values, hg_shape second_shape,
                  const float *second, float *border, float *out);

/// Cuts a face out, with what is around it, and scales it to the network's input: RGB. Returns 0 for a box that is no box.
int hg_passive_crop(const hg_passive *model, hg_rgb picture, hg_box box, uint8_t *cut);
