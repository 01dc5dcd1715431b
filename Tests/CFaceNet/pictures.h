// Tests of scaling pictures and of cutting faces out of them.

static void check_reduction(void) {
    uint8_t *picture = test_picture(61, 47, 0), *same = malloc(61 * 47 * 3), *small = malloc(61 * 47 * 3);
    const hg_rgb whole = {picture, 61, 47};
    expect(hg_picture_reduce(whole, 61, 47, same) && memcmp(same, picture, 61 * 47 * 3) == 0, "a picture of its own size stays", 0);
    for (int width = 1; width <= 61; width += 7) {
        for (int height = 1; height <= 47; height += 5) {
            expect(hg_picture_reduce(whole, width, height, small), "a picture is reduced", width);
            double before = 0, after = 0;
            for (int i = 0; i < 61 * 47 * 3; ++i) before += picture[i] / (61.0 * 47 * 3);
            for (int i = 0; i < width * height * 3; ++i) after += small[i] / (width * height * 3.0);
            expect(fabs(before - after) < 1, "the mean level stays", after - before);
        }
    }
    expect(!hg_picture_reduce(whole, 0, 1, small) && !hg_picture_reduce(whole, 62, 47, small), "another size is refused", 0);
    free(picture);
    free(same);
    free(small);
}

static void check_turns(void) {
    const uint8_t picture[] = {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6};
    const uint8_t levels[][6] = {{4, 1, 5, 2, 6, 3}, {6, 5, 4, 3, 2, 1}, {3, 6, 2, 5, 1, 4}};
    uint8_t turned[sizeof picture];
    for (int quarters = 1; quarters <= 3; ++quarters) {
        hg_picture_turn((hg_rgb){picture, 3, 2}, quarters, turned);
        for (int i = 0; i < 18; ++i) expect(turned[i] == levels[quarters - 1][i / 3], "a picture is turned clockwise", quarters);
    }
}

/// Faces of a picture that is bright on its left half, at the places where an aligned face has them, at some scale.
static void check_alignment(void) {
    const int width = 400, height = 300;
    uint8_t *picture = malloc((size_t)width * height * 3), *face = malloc(HG_FACE_SIDE * HG_FACE_SIDE * 3);
    for (int i = 0; i < width * height; ++i) memset(picture + i * 3, i % width < 200 ? 200 : 40, 3);
    const hg_rgb whole = {picture, width, height};
    for (double scale = 0.5; scale < 6; scale += 0.7) {
        // The middle of the aligned face is at the edge between bright and dark.
        hg_point points[3] = {{36.83f, 54.33f}, {73.78f, 53.57f}, {56.06f, 80.38f}};
        for (int i = 0; i < 3; ++i) points[i] = (hg_point){(float)((points[i].x - 56) * scale + 200), (float)((points[i].y - 56) * scale + 150)};
        expect(hg_face_align(whole, points[0], points[1], points[2], face), "a face is aligned", scale);
        const uint8_t *middle = face + 56 * HG_FACE_SIDE * 3;
        expect(middle[52 * 3] == 200 && middle[60 * 3] == 40, "a face is where it should be", scale);
    }
    hg_face_measures measures;
    hg_face_measure(face, &measures);
    expect(measures.mean > 40 && measures.mean < 200 && measures.deviation > 50 && measures.saturated == 0, "a face is measured", measures.mean);
    float signature[HG_SIGNATURE_SIDE * HG_SIGNATURE_SIDE], norm = 0;
    hg_face_signature(face, signature);
    for (int i = 0; i < HG_SIGNATURE_SIDE * HG_SIGNATURE_SIDE; ++i) norm += signature[i] * signature[i];
    expect(fabsf(norm - 1) < 1e-4f, "a signature has norm 1", norm);
    memset(face, 128, HG_FACE_SIDE * HG_FACE_SIDE * 3);
    hg_face_measure(face, &measures);
    hg_face_signature(face, signature);
    expect(measures.sharpness == 0 && signature[0] == 0, "a face of one colour has neither edges nor a pattern", measures.sharpness);
    const float hostile[] = {0, -1e30f, 1e30f, NAN, INFINITY, 1e-30f, 399, -5};
    enum { COUNT = sizeof hostile / sizeof *hostile };
    uint32_t state = 1;
    for (int i = 0; i < 300; ++i) {
        hg_point points[3];
        for (int k = 0; k < 3; ++k) {
            state = state * 1664525u + 1013904223u;
            points[k] = (hg_point){hostile[(state >> 8) % COUNT], hostile[(state >> 16) % COUNT]};
        }
        hg_face_align(whole, points[0], points[1], points[2], face);
    }
    expect(!hg_face_align(whole, (hg_point){9, 9}, (hg_point){9, 9}, (hg_point){9, 9}, face), "points in one place are refused", 0);
    free(picture);
    free(face);
}
