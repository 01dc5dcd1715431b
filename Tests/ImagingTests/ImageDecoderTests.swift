import Imaging
import TestSupport
import Testing

@Suite struct ImageDecoderTests {
    @Test func `a photo is scaled down to the requested side`() throws {
        let decoded = try Samples.decoder.decodeUpright(try Photos.load("original/obama3"))
        #expect(decoded.image.height == 800 && decoded.image.width == 492)
        #expect(decoded.originalWidth == 1434 && decoded.originalHeight == 2333)
    }

    @Test func `a small photo keeps its size`() throws {
        let image = try Samples.decoder.decodeUpright(try Photos.load("person-a/front-1"), maxSide: 4000).image
        #expect(image.width == 645 && image.height == 799)
    }

    @Test(arguments: [SmallFiles.webP, SmallFiles.heic])
    func `WebP and HEIC files decode`(file: [UInt8]) throws {
        let image = try Samples.decoder.decodeUpright(file).image
        #expect(image.width == 64 && image.height == 48)
        for (x, expected) in [(8, [200, 120, 40]), (56, [40, 120, 200])] {
            for channel in 0..<3 { #expect(abs(Int(image.level(x, 24, channel)) - expected[channel]) <= 12) }
        }
    }

    @Test func `noise behind a JPEG's magic bytes never decodes and never crashes`() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            let noise = (0..<Int.random(in: 1...2_000, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(code { _ = try Samples.decoder.decodeUpright([0xFF, 0xD8, 0xFF] + noise) } != nil)
        }
    }

    @Test func `the EXIF orientation is applied`() throws {
        let file = try Photos.load("person-a/front-1")
        let upright = try Samples.decoder.decodeUpright(file)
        let turned = try Samples.decoder.decodeUpright(JPEGFile(file).with(orientation: 6).bytes)
        #expect(turned.image.width == upright.image.height && turned.image.height == upright.image.width)
        #expect(turned.originalWidth == upright.originalHeight && turned.originalHeight == upright.originalWidth)
        // Orientation 6: the first stored row is the right side of the picture.
        let (x, y) = (100, 50)
        let expected = upright.image.level(x, y, 0)
        let found = turned.image.level(turned.image.width - 1 - y, x, 0)
        #expect(abs(Int(expected) - Int(found)) <= 2)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8], [80, 50])
    func `every orientation comes out upright, at full size and made smaller`(orientation: UInt8, side: Int) throws {
        let file = JPEGFile(try Samples.quarters()).with(orientation: orientation).bytes
        let image = try Samples.decoder.decodeUpright(file, maxSide: side).image
        let short = side * 3 / 4 + (side % 4 > 1 ? 1 : 0)
        #expect((image.width, image.height) == (orientation < 5 ? (side, short) : (short, side)))
        for (found, expected) in zip(image.quarters, Samples.uprightQuarters(orientation)) { #expect(areAlike(found, expected)) }
    }

    @Test func `a grey JPEG becomes three equal bands`() throws {
        let image = try Samples.decoder.decodeUpright(SmallFiles.grey).image
        #expect(areAlike(image.colour(0.1, 0.5), [200, 200, 200], within: 4) && areAlike(image.colour(0.9, 0.5), [40, 40, 40], within: 4))
    }

    @Test func `a JPEG of inks is converted`() throws {
        let image = try Samples.decoder.decodeUpright(SmallFiles.cmyk).image
        let (left, right) = (image.colour(0.1, 0.5), image.colour(0.9, 0.5))
        #expect(left[0] > 150 && left[1] < 110 && left[2] < 110 && right[0] < 110)
    }

    @Test(arguments: [799, 641, 400, 333, 100, 7])
    func `a white JPEG stays white in every size`(side: Int) throws {
        let white = PNGFile.encode(width: 800, height: 451, bands: 3) { _, _, _ in 255 }
        let file = try Samples.pipeline.normalise(white, maxSide: 800).picture.bytes
        let image = try Samples.decoder.decodeUpright(file, maxSide: side).image
        #expect(image.longSide == side && image.pixels.allSatisfy { $0 == 255 })
    }

    @Test func `a JPEG made smaller has the means of the areas`() throws {
        let steps = PNGFile.encode(width: 300, height: 200, bands: 3) { x, _, _ in UInt8(x / 50 * 40) }
        let file = try Samples.pipeline.normalise(steps, maxSide: 300, quality: 100).picture.bytes
        // Each pixel of six covers one step, and each of four one and a half.
        let six = try Samples.decoder.decodeUpright(file, maxSide: 6).image
        let four = try Samples.decoder.decodeUpright(file, maxSide: 4).image
        for x in 0..<6 { #expect(abs(Int(six.level(x, 1, 0)) - x * 40) <= 6) }
        for (x, mean) in [13, 67, 133, 187].enumerated() { #expect(abs(Int(four.level(x, 1, 0)) - mean) <= 6) }
    }

    @Test(arguments: [1, 2, 3, 4])
    func `every kind of PNG becomes three bands`(bands: Int) throws {
        let file = PNGFile.encode(width: 300, height: 250, bands: bands) { _, _, band in
            bands % 2 == 0 && band == bands - 1 ? 255 : 120
        }
        let image = try Samples.decoder.decodeUpright(file).image
        #expect(image.width == 300 && image.height == 250)
        #expect(image.pixels.allSatisfy { $0 == 120 })
    }
}
