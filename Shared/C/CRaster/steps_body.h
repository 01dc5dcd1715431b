// The operations on registers: once for each instruction set.

static void tile(const hg_plane *plane, int y, int x, int count, float *out) {
    for (int done = 0; done < count;) {
        const int from = (x + done) % plane->width;
        const int left = plane->width - from < count - done ? plane->width - from : count - done;
        load(plane, y % plane->height, from, left, out + done);
        done += left;
    }
}

static void enlarge(const hg_step *step, int y, int x, int count, float *out) {
    const hg_plane *plane = &step->plane;
    const float last_row = plane->height - 1, last = plane->width - 1;
    const float down = fminf(fmaxf((y + 0.5f) * step->b - 0.5f, 0), last_row);
    const int above = (int)down;
    const float share = down - above;
    const float start = fminf(fmaxf((x + 0.5f) * step->a - 0.5f, 0), last);
    const int first = (int)start;
    // A chunk reads no more values than it has, and one on each side.
    float upper[HG_RASTER_CHUNK + 4], lower[HG_RASTER_CHUNK + 4];
    const int needed = (int)(count * step->a) + 3;
    const int values = needed < HG_RASTER_CHUNK + 4 ? needed : HG_RASTER_CHUNK + 4;
    load(plane, above, first, values, upper);
    load(plane, above + 1, first, values, lower);
    EACH(values) upper[i] += (lower[i] - upper[i]) * share;
    EACH(count) {
        const float place = fminf(fmaxf((x + i + 0.5f) * step->a - 0.5f, 0), last) - first;
        const int at = (int)place;
        out[i] = upper[at] + (upper[at + 1] - upper[at]) * (place - at);
    }
}

#define DISPLACE(type)                                                                                                              \
    const type *values = plane->values;                                                                                             \
    EACH(count) {                                                                                                                   \
        const float across = fminf(fmaxf(x + i + right[i], 0), last), below = fminf(fmaxf(y + down[i], 0), last_row);               \
        const int column = (int)across, line = (int)below;                                                                          \
        const int one = column < plane->width - 1 ? pixel : 0, next = line < plane->height - 1 ? row : 0;                           \
        const int at = line * row + column * pixel;                                                                                 \
        const float share = across - column;                                                                                        \
        const float upper = values[at] + ((float)values[at + one] - values[at]) * share;                                            \
        const float lower = values[at + next] + ((float)values[at + next + one] - values[at + next]) * share;                       \
        out[i] = upper + (lower - upper) * (below - line);                                                                          \
    }

static void displace(const hg_plane *plane, int y, int x, int count, const float *right, const float *down, float *out) {
    const float last = plane->width - 1, last_row = plane->height - 1;
    const int pixel = (int)plane->pixel, row = (int)plane->row;
    if (plane->is_bytes) {
        DISPLACE(uint8_t)
    } else {
        DISPLACE(float)
    }
}

static inline float cube_root(float value) {
    // A third of the exponent, to some percent, and three steps of Newton's.
    union {
        float value;
        uint32_t bits;
    } guess = {.value = value};
    guess.bits = (uint32_t)(int)((float)(int)guess.bits * (1.0f / 3)) + 709921077u;
    float root = guess.value;
    root = (2 * root + value / (root * root)) * (1.0f / 3);
    root = (2 * root + value / (root * root)) * (1.0f / 3);
    return (2 * root + value / (root * root)) * (1.0f / 3);
}

static inline float cosine(float turns) {
    // The distance to the next whole turn, 0 to 0.5, as a distance from a quarter; the sine of which is a short series.
    const float distance = fabsf(turns - floorf(turns + 0.5f));
    const float angle = (0.25f - distance) * 6.2831853f, square = angle * angle;
    return angle * (1 + square * (-1.0f / 6 + square * (1.0f / 120 + square * (-1.0f / 5040 + square * (1.0f / 362880)))));
}

static void sources(const hg_step *step, int y, int x, int count, const float *left, const float *right, float *out) {
    switch (step->operation) {
        case HG_LOAD: load(&step->plane, y + step->dy, x + step->dx, count, out); break;
        case HG_TILE: tile(&step->plane, y, x, count, out); break;
        case HG_ENLARGE: enlarge(step, y, x, count, out); break;
        case HG_DISPLACE: displace(&step->plane, y, x, count, left, right, out); break;
        case HG_ACROSS: EACH(count) out[i] = x + i; break;
        case HG_DOWN: EACH(count) out[i] = y; break;
        case HG_STORE: store(&step->plane, y, x, count, left); break;
        default: break;
    }
}

static void curves(const hg_step *step, const float *left, float *out) {
    switch (step->operation) {
        case HG_ABSOLUTE: EACH(HG_RASTER_CHUNK) out[i] = fabsf(left[i]); break;
        case HG_ROOT: EACH(HG_RASTER_CHUNK) out[i] = sqrtf(left[i] > 0 ? left[i] : 0); break;
        case HG_CUBE_ROOT: EACH(HG_RASTER_CHUNK) out[i] = cube_root(left[i]); break;
        case HG_COSINE: EACH(HG_RASTER_CHUNK) out[i] = cosine(left[i]); break;
        case HG_ROUND: EACH(HG_RASTER_CHUNK) {
                const float raised = left[i] + 0.5f;
                const float low = raised > 0 ? raised : 0;
                out[i] = (float)(int)(low < 255 ? low : 255);
            }
            break;
        case HG_TABLE: {
            const float last = step->last;
            const float *table = step->table;
            EACH(HG_RASTER_CHUNK) {
                const float raised = left[i] + 0.5f;
                const float low = raised > 0 ? raised : 0;
                out[i] = table[(int)(low < last ? low : last)];
            }
            break;
        }
        default: break;
    }
}

static void run(const hg_step *steps, int count, float *registers, int width, int y) {
    for (int x = 0; x < width; x += HG_RASTER_CHUNK) {
        const int pixels = width - x < HG_RASTER_CHUNK ? width - x : HG_RASTER_CHUNK;
        for (const hg_step *step = steps; step < steps + count; ++step) {
            float *out = registers + step->out * HG_RASTER_CHUNK;
            const float *left = registers + step->left * HG_RASTER_CHUNK, *right = registers + step->right * HG_RASTER_CHUNK;
            const float *mask = registers + step->mask * HG_RASTER_CHUNK;
            const float a = step->a, b = step->b;
            switch (step->operation) {
                case HG_ADD: EACH(HG_RASTER_CHUNK) out[i] = left[i] + right[i]; break;
                case HG_SUBTRACT: EACH(HG_RASTER_CHUNK) out[i] = left[i] - right[i]; break;
                case HG_MULTIPLY: EACH(HG_RASTER_CHUNK) out[i] = left[i] * right[i]; break;
                case HG_DIVIDE: EACH(HG_RASTER_CHUNK) out[i] = left[i] / right[i]; break;
                case HG_LARGER: EACH(HG_RASTER_CHUNK) out[i] = left[i] > right[i] ? left[i] : right[i]; break;
                case HG_SMALLER: EACH(HG_RASTER_CHUNK) out[i] = left[i] < right[i] ? left[i] : right[i]; break;
                case HG_LINEAR: EACH(HG_RASTER_CHUNK) out[i] = left[i] * a + b; break;
                case HG_ADD_SCALED: EACH(HG_RASTER_CHUNK) out[i] = left[i] + right[i] * a; break;
                case HG_MIX: EACH(HG_RASTER_CHUNK) out[i] = left[i] + (right[i] - left[i]) * (mask[i] * (1.0f / 255)); break;
                case HG_WITH_SIGN: EACH(HG_RASTER_CHUNK) out[i] = mask[i] < 0 ? -left[i] : left[i]; break;
                case HG_ABSOLUTE:
                case HG_ROOT:
                case HG_CUBE_ROOT:
                case HG_COSINE:
                case HG_ROUND:
                case HG_TABLE: curves(step, left, out); break;
                default: sources(step, y, x, pixels, left, right, out);
            }
        }
    }
}

const hg_raster_path PATH = {.run = run, .across = across, .down = down, .load = load, .store = store};
