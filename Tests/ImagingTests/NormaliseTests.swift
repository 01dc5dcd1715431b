import ImageProbe
import Imaging
import Testing

/// Tests that every picture becomes an upright JPEG in sRGB.
@Suite struct NormaliseTests {
    private func normalised(_ bytes: [UInt8], maxSide: Int = 4_000) throws -> RGBImage {
        try Samples.pixels(try Samples.pipeline.normalise(bytes, maxSide: maxSide).picture)
    }

    @Test func `a picture is scaled to the maximum side and its original size returned`() throws {
        let result = try Samples.pipeline.normalise(try Samples.portrait(), maxSide: 1_000)
        #expect((result.originalWidth, result.originalHeight) == (1_434, 2_333))
        #expect((result.picture.width, result.picture.height) == (615, 1_000))
        #expect(result.picture.format == .jpeg)
    }

    @Test func `a small picture keeps its size`() throws {
        let result = try Samples.pipeline.normalise(try Samples.quarters(), maxSide: 1_000)
        #expect((result.picture.width, result.picture.height) == (80, 60))
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8])
    func `every orientation comes out upright`(orientation: UInt8) throws {
        let file = JPEGFile(try Samples.quarters()).with(orientation: orientation).bytes
        let result = try Samples.pipeline.normalise(file, maxSide: 4_000)
        let image = try Samples.pixels(result.picture)
        #expect((image.width, image.height) == (orientation < 5 ? (80, 60) : (60, 80)))
        #expect((result.originalWidth, result.originalHeight) == (image.width, image.height))
        for (found, expected) in zip(image.quarters, Samples.uprightQuarters(orientation)) { #expect(areAlike(found, expected)) }
    }

    @Test func `CMYK without a profile is converted as offset printing`() throws {
        let image = try normalised(SmallFiles.cmyk)
        #expect(areAlike(image.colour(0.25, 0.5), [237, 81, 69]))
        #expect(areAlike(image.colour(0.75, 0.5), [16, 126, 175]))
    }

    @Test func `CMYK with a profile is converted by the profile`() throws {
        let colour = try normalised(JPEGFile(SmallFiles.cmyk).with(profile: ColourProfile.greenInks).bytes).colour(0.25, 0.5)
        #expect(colour[1] > colour[0] + 40 && colour[1] > colour[2] + 40)
    }

    @Test func `a colour profile is honoured`() throws {
        let file = JPEGFile(try Samples.quarters()).with(profile: ColourProfile.swappedRedAndGreen).bytes
        let image = try normalised(file)
        #expect(areAlike(image.colour(0.25, 0.25), [30, 220, 30], within: 40))
        #expect(areAlike(image.colour(0.75, 0.25), [200, 30, 30], within: 40))
    }

    @Test func `a colour profile in a PNG is honoured`() throws {
        let extra = PNGFile.profile(ColourProfile.swappedRedAndGreen)
        let image = try normalised(PNGFile.encode(width: 40, height: 40, bands: 3, extra: extra) { _, _, band in band == 0 ? 220 : 20 })
        #expect(areAlike(image.colour(0.5, 0.5), [20, 220, 20], within: 40))
    }

    @Test(arguments: [0, 40, 127, 129, 200])
    func `a damaged profile does not spoil the picture`(length: Int) throws {
        let file = JPEGFile(try Samples.quarters()).with(profile: Array(ColourProfile.swappedRedAndGreen.prefix(length))).bytes
        #expect(areAlike(try normalised(file).colour(0.25, 0.25), [220, 30, 30]))
    }

    @Test func `a profile for another number of bands is ignored`() throws {
        let file = JPEGFile(try Samples.quarters()).with(profile: ColourProfile.greenInks).bytes
        #expect(areAlike(try normalised(file).colour(0.25, 0.25), [220, 30, 30]))
    }

    @Test func `sixteen bits become eight`() throws {
        let file = PNGFile.encode16(width: 64, height: 64) { x, _, band in x < 32 ? [40_000, 20_000, 10_000][band] : 65_535 }
        let image = try normalised(file)
        #expect(areAlike(image.colour(0.25, 0.5), [156, 78, 39], within: 6))
        #expect(areAlike(image.colour(0.75, 0.5), [255, 255, 255], within: 2))
    }

    @Test func `grey stays grey`() throws {
        let image = try normalised(PNGFile.encode(width: 40, height: 40, bands: 1) { x, _, _ in UInt8(x * 6) })
        #expect(areAlike(image.colour(0.5, 0.5), [120, 120, 120], within: 6))
    }

    @Test(arguments: [2, 4])
    func `transparency becomes white`(bands: Int) throws {
        let file = PNGFile.encode(width: 64, height: 64, bands: bands) { x, _, band in band == bands - 1 ? (x < 32 ? 0 : 255) : 60 }
        let image = try normalised(file)
        #expect(areAlike(image.colour(0.25, 0.5), [255, 255, 255], within: 4))
        #expect(areAlike(image.colour(0.75, 0.5), [60, 60, 60], within: 4))
    }

    @Test(arguments: [SmallFiles.webP, SmallFiles.heic])
    func `WebP and HEIC are accepted`(file: [UInt8]) throws {
        let image = try normalised(file)
        #expect((image.width, image.height) == (64, 48))
        #expect(areAlike(image.colour(0.25, 0.5), [200, 120, 40]))
        #expect(areAlike(image.colour(0.75, 0.5), [40, 120, 200]))
    }
}
