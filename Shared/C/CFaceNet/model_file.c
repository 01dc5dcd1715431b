#include "model_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "model files are read as they are, in little-endian order"
#endif

typedef struct {
    char magic[8];
    uint32_t version, kind;
    uint8_t source[32];
    uint64_t length, checksum;
} header;

static uint64_t checksum(const uint8_t *bytes, size_t size) {
    uint64_t plain = 0, weighted = 0;
    for (size_t i = 0; i + 4 <= size; i += 4) {
        uint32_t word;
        memcpy(&word, bytes + i, 4);
        plain += word;
        weighted += plain;
    }
    return plain << 32 | (uint32_t)(weighted ^ weighted >> 32);
}

hg_model_fault hg_model_open(const void *file, size_t size, uint32_t kind, hg_arrays *arrays) {
    header head;
    _Static_assert(sizeof head == 64, "the header has no gaps");
    if (file == NULL || size < sizeof head) return HG_MODEL_WRONG_SIZE;
    memcpy(&head, file, sizeof head);
    if (memcmp(head.magic, "HGMODEL", 8) != 0) return HG_MODEL_WRONG_MAGIC;
    if (head.version != 1) return HG_MODEL_WRONG_VERSION;
    if (head.kind != kind) return HG_MODEL_WRONG_KIND;
    if (head.length != size - sizeof head || head.length % 64 != 0) return HG_MODEL_WRONG_SIZE;
    *arrays = (hg_arrays){(const uint8_t *)file + sizeof head, size - sizeof head};
    return checksum(arrays->at, arrays->left) == head.checksum ? HG_MODEL_OK : HG_MODEL_DAMAGED;
}

const void *hg_next_array(hg_arrays *arrays, size_t count, size_t element_size) {
    if (count > arrays->left / element_size) return NULL;
    const size_t size = hg_padded(count * element_size);
    if (size > arrays->left) return NULL;
    const void *array = arrays->at;
    arrays->at += size;
    arrays->left -= size;
    return array;
}

int hg_arena_create(hg_arena *arena, size_t size) {
    size = hg_padded(size);
    *arena = (hg_arena){aligned_alloc(64, size > 0 ? size : 64), 0, size};
    return arena->base != NULL;
}

void hg_arena_destroy(hg_arena *arena) {
    free(arena->base);
    *arena = (hg_arena){0};
}

void *hg_arena_take(hg_arena *arena, size_t count, size_t element_size) {
    if (count > (arena->size - arena->used) / element_size) return NULL;
    const size_t size = hg_padded(count * element_size);
    void *piece = arena->base + arena->used;
    arena->used += size;
    return piece;
}

void *hg_copy_array(hg_arrays *arrays, hg_arena *arena, size_t count, size_t element_size) {
    const void *array = hg_next_array(arrays, count, element_size);
    void *copy = array != NULL ? hg_arena_take(arena, count, element_size) : NULL;
    if (copy != NULL) memcpy(copy, array, count * element_size);
    return copy;
}

int hg_read_dense(hg_arrays *arrays, hg_arena *arena, const hg_kernels *kernels, int has_slopes, hg_dense *layer) {
    const size_t inputs = (size_t)layer->segments * layer->depth, out = layer->out;
    const uint8_t *weights = hg_next_array(arrays, out * inputs, sizeof(float));
    float *packed = weights != NULL ? hg_arena_take(arena, out * inputs, sizeof(float)) : NULL;
    if (packed == NULL) return 0;
    layer->weights = packed;
    for (size_t channel = 0, block; channel < out; channel += block) {
        block = out - channel >= (size_t)kernels->block ? (size_t)kernels->block : 16;
        for (size_t input = 0; input < inputs; ++input)
            for (size_t i = 0; i < block; ++i, ++packed) memcpy(packed, weights + ((channel + i) * inputs + input) * 4, 4);
    }
    layer->bias = hg_copy_array(arrays, arena, out, sizeof(float));
    layer->slopes = has_slopes ? hg_copy_array(arrays, arena, out, sizeof(float)) : NULL;
    return layer->bias != NULL && (!has_slopes || layer->slopes != NULL);
}

/// Rounds the weights of a channel to 8 bits, and stores them four bytes apart from those of the next channel.
static void round_weights(const uint8_t *weights, size_t depth, int8_t *packed, float *scale, float *sum) {
    float greatest = 0, weight;
    for (size_t i = 0; i < depth; ++i) {
        memcpy(&weight, weights + i * 4, 4);
        if (fabsf(weight) > greatest) greatest = fabsf(weight);
    }
    *scale = greatest / 127;
    *sum = 0;
    for (size_t i = 0; i < depth; ++i) {
        memcpy(&weight, weights + i * 4, 4);
        const float level = greatest > 0 ? rintf(weight / *scale) : 0;
        // Written so that a number that is none has a level, too.
        const int8_t rounded = level > 127 ? 127 : level > -127 ? (int8_t)level : -127;
        packed[i / 4 * 128 + i % 4] = rounded;
        *sum += *scale * (float)rounded;
    }
}

int hg_read_dense8(hg_arrays *arrays, hg_arena *arena, hg_dense8 *layer) {
    const size_t depth = (size_t)layer->depth, out = (size_t)layer->out;
    const uint8_t *weights = hg_next_array(arrays, out * depth, sizeof(float));
    int8_t *packed = hg_arena_take(arena, out * depth, 1);
    float *scales = hg_arena_take(arena, out, sizeof(float)), *sums = hg_arena_take(arena, out, sizeof(float));
    if (weights == NULL || packed == NULL || scales == NULL || sums == NULL) return 0;
    for (size_t channel = 0; channel < out; ++channel)
        round_weights(weights + channel * depth * 4, depth, packed + channel / 32 * 32 * depth + channel % 32 * 4, scales + channel,
                      sums + channel);
    layer->weights = packed;
    layer->scales = scales;
    layer->sums = sums;
    layer->bias = hg_copy_array(arrays, arena, out, sizeof(float));
    layer->slopes = hg_copy_array(arrays, arena, out, sizeof(float));
    return layer->bias != NULL && layer->slopes != NULL;
}

int hg_read_depthwise(hg_arrays *arrays, hg_arena *arena, int has_slopes, hg_depthwise *layer) {
    const size_t channels = layer->channels;
    layer->weights = hg_copy_array(arrays, arena, 9 * channels, sizeof(float));
    layer->bias = hg_copy_array(arrays, arena, channels, sizeof(float));
    layer->slopes = has_slopes ? hg_copy_array(arrays, arena, channels, sizeof(float)) : NULL;
    return layer->weights != NULL && layer->bias != NULL && (!has_slopes || layer->slopes != NULL);
}

hg_scratch *hg_scratch_create(void) { return calloc(1, sizeof(hg_scratch)); }

void hg_scratch_destroy(hg_scratch *scratch) {
    if (scratch == NULL) return;
    hg_arena_destroy(&scratch->arena);
    free(scratch);
}

int hg_scratch_reserve(hg_scratch *scratch, size_t size) {
    scratch->arena.used = 0;
    if (scratch->arena.size >= size) return 1;
    hg_arena_destroy(&scratch->arena);
    if (hg_arena_create(&scratch->arena, size)) return 1;
    scratch->arena.size = 0;
    return 0;
}

float *hg_scratch_floats(hg_scratch *scratch, size_t count) { return hg_arena_take(&scratch->arena, count, sizeof(float)); }
