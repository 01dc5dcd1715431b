/// The templates of a new database: one for each style of the local generator, with prompts for the generators that use them.
///
/// Operators change them by SQL; identity-api and image-worker read them for every job.
let imageTemplateSeeds = """
    INSERT INTO image_templates (id, name, description, style, position, prompt, negative_prompt) VALUES
    ('anime-style', 'Anime Style', 'Clean outlines, flat bright colours and soft shading, like a frame of an animated film.',
     'anime-style', 10,
     'Redraw this photograph as a frame of a hand-drawn Japanese animated film. Use confident clean outlines, cel shading '
     'with two or three tones a surface, large expressive eyes and bright, slightly warm colours. Keep the composition, the '
     'pose, the clothing and everyone''s likeness, so that the people in it would be recognised at once.',
     'photorealism, extra fingers, extra limbs, text, watermark, signature, distorted faces'),
    ('pencil-sketch', 'Pencil Sketch', 'Graphite on white paper: fine lines, hatching and soft shadows.',
     'pencil-sketch', 20,
     'Turn this photograph into a graphite pencil drawing on lightly textured white paper. Build the shadows from fine '
     'hatching and cross-hatching, keep the highlights as bare paper, and let line weight follow the form. Keep the '
     'composition and every likeness exactly. Greyscale only.',
     'colour, photographic texture, smudges over faces, text, watermark, signature'),
    ('watercolor', 'Watercolor', 'Washes of transparent colour that run into each other on rough paper.',
     'watercolor', 30,
     'Paint this photograph as a watercolour on cold-pressed paper. Use transparent layered washes, wet edges and gentle '
     'blooms, let the white of the paper carry the light, and suggest the background with a few loose strokes. Keep the '
     'composition and every likeness, and keep faces more finished than their surroundings.',
     'opaque paint, hard digital edges, photographic texture, text, watermark, signature, distorted faces'),
    ('oil-painting', 'Oil Painting', 'Thick, visible brushwork and deep colours, like a canvas in a museum.',
     'oil-painting', 40,
     'Paint this photograph as a classical oil painting on canvas. Use visible, directional brushwork with some impasto in '
     'the lights, deep glazed shadows and one clear source of light. Keep the composition, the pose and every likeness, with '
     'faces painted in finer strokes than clothing and background.',
     'flat colours, photographic texture, frame, text, watermark, signature, distorted faces'),
    ('pop-art', 'Pop Art', 'Bold flat colours, black contours and printed dots, like a silk-screen poster.',
     'pop-art', 50,
     'Turn this photograph into a pop-art silk-screen print of the 1960s. Reduce it to four or five flat, saturated colours '
     'with heavy black contours, put halftone dots into the mid-tones, and use one plain contrasting colour behind the '
     'subject. Keep the composition and every likeness.',
     'gradients, photographic texture, speech bubbles, text, watermark, signature, distorted faces'),
    ('vintage', 'Vintage Photo', 'Faded colours, soft contrast and a little grain, like a print from an old album.',
     'vintage', 60,
     'Make this photograph look like a colour print of the 1970s that has spent decades in an album: faded blacks, warm '
     'yellowed highlights, lower contrast, a slight vignette and fine film grain. Change nothing else: the scene, the people '
     'and their clothing stay exactly as they are.',
     'modern colour grading, scratches over faces, frame, date stamp, text, watermark');
    """
