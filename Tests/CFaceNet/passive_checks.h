// The checks of passive models: each path computes what is in the file, and a forged list of layers does no harm.
#pragma once

static hg_passive *load_passive_on(file model, hg_path path) {
    hg_model_fault fault;
    hg_passive *made = hg_passive_load(model.bytes, model.size, path, &fault);
    expect((made != NULL) == (fault == HG_MODEL_OK), "a fault is named", fault);
    return made;
}

static int load_passive(file model, int use) {
    hg_passive *made = load_passive_on(model, HG_PATH_BEST);
    if (made == NULL) return 0;
    if (use) {
        hg_scratch *scratch = hg_scratch_create();
        uint8_t *picture = test_picture(90, 70, 3);
        float score = 0, deviation;
        hg_passive_score(made, scratch, (hg_rgb){picture, 90, 70}, (hg_box){20, 10, 30, 40}, &score);
        expect(score >= 0 && score <= 1, "a score is a share", score);
        hg_passive_check(made, scratch, &deviation);
        free(picture);
        hg_scratch_destroy(scratch);
    }
    hg_passive_destroy(made);
    return 1;
}

static void check_passive(file model, hg_path path) {
    hg_passive *made = load_passive_on(model, path);
    expect(made != NULL, "a passive model loads", path);
    if (made == NULL) return;
    hg_scratch *scratch = hg_scratch_create();
    float deviation = 1;
    expect(hg_passive_check(made, scratch, &deviation), "a passive model computes", path);
    struct timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (int i = 0; i < 5; ++i) hg_passive_check(made, scratch, &deviation);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    const double milliseconds = (double)(end.tv_sec - begin.tv_sec) * 200 + (double)(end.tv_nsec - begin.tv_nsec) / 5e6;
    printf("path %d: the passive model's results deviate by %.2g; %.2f ms\n", path, deviation, milliseconds);
    expect(deviation <= 1e-4, "the results of a passive model are those of the reference", deviation);
    hg_scratch_destroy(scratch);
    hg_passive_destroy(made);
}

/// Boxes and pictures that no detector gives.
static void check_passive_boxes(file model) {
    hg_passive *made = load_passive_on(model, HG_PATH_BEST);
    hg_scratch *scratch = hg_scratch_create();
    uint8_t *picture = test_picture(61, 47, 3);
    const float hostile[] = {0, -1e30f, 1e30f, NAN, INFINITY, 1e-30f, 60, -5, 1, 4000, 23.5f, 40, 8, 2e5f, -3000};
    enum { COUNT = sizeof hostile / sizeof *hostile };
    uint32_t state = 1;
    for (int i = 0; i < 3000; ++i) {
        float box[4], score = 0.5f;
        for (int k = 0; k < 4; ++k) box[k] = hostile[((state = state * 1664525u + 1013904223u) >> 10) % COUNT];
        const hg_rgb whole = {picture, i % 3 == 0 ? 61 : i % 3, 47};
        if (hg_passive_score(made, scratch, whole, (hg_box){box[0], box[1], box[2], box[3]}, &score))
            expect(score >= 0 && score <= 1, "a score is a share", score);
    }
    free(picture);
    hg_scratch_destroy(scratch);
    hg_passive_destroy(made);
}

/// A result that is no number fails the check, in the first place as in the last.
static void check_passive_nan(file model) {
    enum { FACTS = 16, EXPECTED = 48 };
    uint32_t classes;
    memcpy(&classes, model.bytes + 4 * (FACTS + 3), 4);
    for (uint32_t at = 0; at < classes; ++at) {
        file made = copy_of(model, model.size);
        const float none = NAN;
        float deviation = 0;
        memcpy(made.bytes + 4 * (EXPECTED + at), &none, 4);
        sign(made);
        hg_passive *loaded = load_passive_on(made, HG_PATH_BEST);
        hg_scratch *scratch = hg_scratch_create();
        expect(loaded != NULL && hg_passive_check(loaded, scratch, &deviation), "a passive model computes", at);
        expect(isnan(deviation), "a result that is no number is a deviation", at);
        hg_scratch_destroy(scratch);
        hg_passive_destroy(loaded);
        free(made.bytes);
    }
}

/// Changes whole numbers, of the facts and of the layers, to numbers that a network could have, and to others.
static void check_forged_passive(file model, int rounds) {
    enum { FACTS = 16, RECORDS = 64, WORDS = 16 };
    uint32_t layers, state = 7;
    memcpy(&layers, model.bytes + 4 * (FACTS + 2), 4);
    int loaded = 0;
    for (int round = 0; round < rounds; ++round) {
        file made = copy_of(model, model.size);
        for (int i = 0; i <= round % 4; ++i) {
            state = state * 1664525u + 1013904223u;
            const uint32_t random = state >> 8, is_fact = random % 5 == 0;
            const size_t word = is_fact ? FACTS + random / 5 % 9 : RECORDS + random / 5 % (layers * WORDS);
            state = state * 1664525u + 1013904223u;
            const uint32_t number = state >> 29 == 0 ? hostile_numbers[(state >> 8) % 8] : (state >> 8) % ((state >> 29) * 8);
            memcpy(made.bytes + 4 * word, &number, 4);
        }
        sign(made);
        loaded += load_passive(made, 1);
        free(made.bytes);
    }
    printf("%d of %d forged passive models load, and none does harm\n", loaded, rounds);
}
