import ImageProbe
import Imaging
import Testing

@Suite struct ThumbnailTests {
    @Test(arguments: [(80, 60), (60, 80), (3_000, 20), (20, 3_000), (1, 1), (300, 200)])
    func `a thumbnail has exactly its size, whatever the picture's shape`(width: Int, height: Int) throws {
        let file = PNGFile.encode(width: width, height: height, bands: 3) { x, y, band in
            UInt8(truncatingIfNeeded: x * 3 + y * 5 + band * 40)
        }
        let result = try Samples.pipeline.thumbnail(of: file)
        #expect((result.width, result.height) == (300, 200))
        let image = try Samples.pixels(result)
        #expect((image.width, image.height) == (300, 200))
    }

    @Test func `a portrait's thumbnail shows the face`() throws {
        let photo = try Samples.portrait()
        let image = try Samples.pixels(try Samples.pipeline.thumbnail(of: photo))
        // In the middle of the picture is a dark suit; the face is near its top. Skin is redder than blue.
        var skin = 0
        for y in 0..<image.height {
            for x in 0..<image.width where Int(image.level(x, y, 0)) > Int(image.level(x, y, 2)) + 40 { skin += 1 }
        }
        #expect(skin > 300 * 200 / 20)
    }

    @Test func `quality is lowered until the thumbnail fits`() throws {
        let file = Samples.noise(side: 400)
        let free = try Samples.pipeline.thumbnail(of: file)
        let tight = try Samples.pipeline.thumbnail(of: file, maxBytes: 12_000)
        #expect(free.bytes.count > 12_000 && free.bytes.count <= 300 << 10)
        #expect(tight.bytes.count <= 12_000)
        #expect(code { _ = try Samples.pipeline.thumbnail(of: file, maxBytes: 200) } == .tooLarge)
    }

    @Test func `a thumbnail is upright`() throws {
        let file = JPEGFile(try Samples.quarters()).with(orientation: 3).bytes
        #expect(try areAlike(Samples.pixels(try Samples.pipeline.thumbnail(of: file)).colour(0.9, 0.9), [220, 30, 30]))
    }

    @Test(arguments: [(0, 200), (300, 15), (4_097, 200), (-1, -1)])
    func `a size outside the limits is refused`(width: Int, height: Int) throws {
        let file = try Samples.quarters()
        #expect(code { _ = try Samples.pipeline.thumbnail(of: file, width: width, height: height) } == .invalidSize)
    }
}
