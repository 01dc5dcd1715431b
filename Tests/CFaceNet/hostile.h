// Loads files that are truncated, extended, damaged, or made by an attacker who knows the checksum, and uses those that load.
#pragma once

static const uint32_t hostile_numbers[] = {0, 1, 0x7F800000 /* infinity */, 0xFFC00000 /* NaN */, 0x7F7FFFFF, 0xFFFFFFFF, 0x0000FFFF, 0x80000000};

static void sign(file model) {
    uint64_t plain = 0, weighted = 0;
    for (size_t i = 64; i + 4 <= model.size; i += 4) {
        uint32_t word;
        memcpy(&word, model.bytes + i, 4);
        plain += word;
        weighted += plain;
    }
    const uint64_t sum = plain << 32 | (uint32_t)(weighted ^ weighted >> 32);
    memcpy(model.bytes + 56, &sum, 8);
}

static int load_recogniser(file model, int use) {
    hg_model_fault fault;
    hg_recogniser *made = hg_recogniser_load(model.bytes, model.size, HG_PATH_BEST, &fault);
    expect((made != NULL) == (fault == HG_MODEL_OK), "a fault is named", fault);
    if (made != NULL && use) {
        uint8_t *face = test_picture(HG_FACE_SIDE, HG_FACE_SIDE, 3);
        float descriptor[HG_FACE_DESCRIPTOR_LENGTH];
        hg_scratch *scratch = hg_scratch_create();
        hg_recogniser_describe(made, scratch, face, descriptor);
        hg_scratch_destroy(scratch);
        free(face);
    }
    hg_recogniser_destroy(made);
    return made != NULL;
}

static int load_detector(file model, int use) {
    hg_model_fault fault;
    hg_detector *made = hg_detector_load(model.bytes, model.size, HG_PATH_BEST, &fault);
    expect((made != NULL) == (fault == HG_MODEL_OK), "a fault is named", fault);
    if (made != NULL && use) {
        uint8_t *picture = test_picture(100, 70, 3);
        hg_candidate found[4];
        hg_scratch *scratch = hg_scratch_create();
        int count;
        hg_detector_find(made, scratch, (hg_rgb){picture, 100, 70}, 0.0001f, 0.9f, found, 4, &count);
        for (int i = 0; i < count && i < 4; ++i) expect(isfinite(found[i].left + found[i].points[4].y), "numbers are finite", i);
        hg_scratch_destroy(scratch);
        free(picture);
    }
    hg_detector_destroy(made);
    return made != NULL;
}

static int load_landmarks(file model, int use) {
    hg_model_fault fault;
    hg_landmark_model *made = hg_landmarks_load(model.bytes, model.size, &fault);
    expect((made != NULL) == (fault == HG_MODEL_OK), "a fault is named", fault);
    if (made != NULL && use) {
        uint8_t *picture = test_picture(100, 70, 3);
        hg_point points[5];
        hg_landmarks_find(made, (hg_rgb){picture, 100, 70}, 10, 10, 60, 60, points);
        hg_landmarks_find(made, (hg_rgb){picture, 100, 70}, -2000000000, 5, 2000000000, 5, points);
        free(picture);
    }
    hg_landmarks_destroy(made);
    return made != NULL;
}

static file copy_of(file model, size_t size) {
    // Of the exact size, so that the sanitizer sees a read beyond it.
    file made = {malloc(size > 0 ? size : 1), size};
    memset(made.bytes, 0, size);
    memcpy(made.bytes, model.bytes, size < model.size ? size : model.size);
    return made;
}

static void check_hostile_files(file model, int (*load)(file, int), int rounds) {
    expect(load(model, 1), "the untouched file loads", 0);
    uint32_t state = 1;
    int loaded = 0;
    for (int round = 0; round < rounds; ++round) {
        state = state * 1664525u + 1013904223u;
        const uint32_t random = state >> 3;
        // A length of another multiple of 64, with header and checksum to match; short ones more often.
        const size_t size = round % 2 ? 64 * (random % 40) : 64 * (random % (model.size / 64));
        file cut = copy_of(model, size);
        if (size >= 64) {
            const uint64_t length = size - 64;
            memcpy(cut.bytes + 48, &length, 8);
            sign(cut);
        }
        expect(!load(cut, 0), "a file of another size is refused", (double)size);
        free(cut.bytes);

        file changed = copy_of(model, model.size);
        changed.bytes[random % model.size] ^= (uint8_t)(1 << random % 8);
        // The source's hash is not part of what is checked here.
        const size_t at = random % model.size;
        expect(load(changed, 0) == (at >= 16 && at < 48), "a changed bit is seen", (double)at);
        free(changed.bytes);

        file made = copy_of(model, model.size);
        for (int i = 0; i <= round % 9; ++i) {
            state = state * 1664525u + 1013904223u;
            // The first numbers are counts and indices of the landmark model.
            const size_t word = 16 + (state >> 3) % (i % 2 ? 64 : (uint32_t)(model.size / 4 - 16));
            memcpy(made.bytes + 4 * word, &hostile_numbers[state >> 29], 4);
        }
        sign(made);
        loaded += load(made, 1);
        free(made.bytes);
    }
    printf("%d of %d forged files load, and none does harm\n", loaded, rounds);
}
