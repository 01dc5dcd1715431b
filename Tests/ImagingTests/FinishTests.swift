import ImageProbe
import Imaging
import Testing

@Suite struct FinishTests {
    @Test(
        arguments: [
            (nil, nil, PictureQuality.medium, 1_259, 2_048), (nil, nil, .low, 629, 1_024), (nil, nil, .high, 1_434, 2_333),
            (600, nil, .low, 600, 976), (nil, 300, .low, 184, 300), (500, 500, .low, 500, 500), (4_096, nil, .low, 2_518, 4_096),
        ] as [(Int?, Int?, PictureQuality, Int, Int)])
    func `width, height and quality decide the size`(
        width: Int?, height: Int?, quality: PictureQuality, expectedWidth: Int, expectedHeight: Int
    ) throws {
        let result = try Samples.pipeline.finish(try Samples.portrait(), width: width, height: height, quality: quality)
        #expect((result.width, result.height) == (expectedWidth, expectedHeight))
        let image = try Samples.pixels(result)
        #expect((image.width, image.height) == (expectedWidth, expectedHeight))
    }

    @Test func `more quality takes more bytes`() throws {
        let file = try Samples.portrait()
        let sizes = try PictureQuality.allCases.map { try Samples.pipeline.finish(file, width: 800, quality: $0).bytes.count }
        #expect(sizes == sizes.sorted() && Set(sizes).count == 3)
    }

    @Test(arguments: [(15, nil), (nil, 4_097), (300, 0), (-5, 300)] as [(Int?, Int?)])
    func `a size outside the limits is refused`(width: Int?, height: Int?) throws {
        let file = try Samples.quarters()
        #expect(code { _ = try Samples.pipeline.finish(file, width: width, height: height) } == .invalidSize)
    }

    @Test(arguments: [ImageFormat.png, .webp])
    func `transparency stays in the formats that have it`(format: ImageFormat) throws {
        let file = PNGFile.encode(width: 64, height: 64, bands: 4) { x, _, band in band == 3 ? (x < 32 ? 0 : 255) : 60 }
        let result = try Samples.pipeline.finish(file, format: format)
        #expect(result.format == format)
        // The face engine's decoder renders transparent pixels on black.
        let image = try Samples.pixels(result)
        #expect(areAlike(image.colour(0.25, 0.5), [0, 0, 0], within: 4))
        #expect(areAlike(image.colour(0.75, 0.5), [60, 60, 60], within: 4))
    }

    @Test func `a long picture that is requested as a big square shows its middle`() throws {
        let file = PNGFile.encode(width: 800, height: 100, bands: 3) { x, _, band in band == (x < 300 || x > 500 ? 0 : 1) ? 220 : 30 }
        let result = try Samples.pipeline.finish(file, width: 4_096, height: 4_096)
        #expect((result.width, result.height) == (4_096, 4_096))
        #expect(try areAlike(Samples.pixels(result).colour(0.5, 0.5), [30, 220, 30], within: 8))
    }

    @Test func `HEIC is not written`() throws {
        let file = try Samples.quarters()
        #expect(code { _ = try Samples.pipeline.finish(file, format: .heic) } == .unsupported)
    }
}

/// Tests that results contain no metadata.
@Suite struct MetadataTests {
    private static let word = "CANARY-52.5163N-13.3777E"

    private static func file() throws -> [UInt8] {
        JPEGFile(try Samples.quarters()).with(profile: ColourProfile.swappedRedAndGreen).withMetadata(saying: word).bytes
    }

    @Test func `the file the other tests start from carries metadata of every kind`() throws {
        let file = JPEGFile(try Self.file())
        #expect(file.segments.map(\.marker).prefix(5) == [0xE1, 0xE1, 0xED, 0xFE, 0xE2])
        #expect(file.bytes.occurrences(of: Self.word) == 4)
    }

    @Test func `a JPEG holds tables, a frame and a scan, and nothing else`() throws {
        let file = try Self.file()
        var results = [
            try Samples.pipeline.normalise(file, maxSide: 2_000).picture, try Samples.pipeline.thumbnail(of: file),
            try Samples.pipeline.finish(file),
        ]
        for style in PictureStyle.allCases { results.append(try Samples.pipeline.stylise(file, style: style)) }
        for result in results {
            #expect(result.bytes.occurrences(of: Self.word) == 0)
            let segments = JPEGFile(result.bytes).segments
            #expect(Set(segments.map(\.marker)).isSubset(of: [0xE0, 0xDB, 0xC0, 0xC4, 0xDA]))
            // The one application segment is JFIF's own, without a preview.
            for segment in segments where segment.marker == 0xE0 {
                #expect(segment.content.count == 14 && segment.content.starts(with: Array("JFIF\0".utf8)))
            }
        }
    }

    @Test func `a PNG holds its header, its pixels and their density, and nothing else`() throws {
        let bytes = try Samples.pipeline.finish(try Self.file(), format: .png).bytes
        #expect(bytes.occurrences(of: Self.word) == 0)
        var names: Set<String> = []
        var offset = 8
        while offset + 8 <= bytes.count {
            names.insert(String(decoding: bytes[(offset + 4)..<(offset + 8)], as: UTF8.self))
            offset += bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) } + 12
        }
        #expect(names.isSubset(of: ["IHDR", "pHYs", "IDAT", "IEND"]))
    }

    @Test(arguments: [3, 4])
    func `a WebP holds its pixels and nothing else`(bands: Int) throws {
        let file = bands == 3 ? try Self.file() : PNGFile.encode(width: 64, height: 64, bands: 4) { x, _, _ in UInt8(x * 4) }
        let bytes = try Samples.pipeline.finish(file, format: .webp).bytes
        #expect(bytes.occurrences(of: Self.word) == 0)
        func number(_ offset: Int) -> Int { (0..<4).reversed().reduce(0) { $0 << 8 | Int(bytes[offset + $1]) } }
        #expect(number(4) == bytes.count - 8)
        var names: [String] = []
        var offset = 12
        while offset + 8 <= bytes.count {
            names.append(String(decoding: bytes[offset..<(offset + 4)], as: UTF8.self))
            // The extended header announces only transparency.
            if names.last == "VP8X" { #expect(bytes[offset + 8] == (bands == 4 ? 0x10 : 0)) }
            offset += 8 + number(offset + 4) + number(offset + 4) % 2
        }
        #expect(offset == bytes.count)
        #expect(Set(names).isSubset(of: ["VP8X", "ALPH", "VP8 ", "VP8L"]))
        #expect(try Samples.decoder.decodeUpright(bytes).image.longSide == (bands == 3 ? 80 : 64))
    }
}

extension [UInt8] {
    func occurrences(of word: String) -> Int {
        let word = Array(word.utf8)
        return indices.dropLast(word.count - 1).count { self[$0] == word[0] && self[$0..<($0 + word.count)].elementsEqual(word) }
    }
}
