import ImageProbe
import Imaging
import TestSupport
import Testing

/// Pictures as phones write them, made for this purpose from public portraits.
@Suite struct FieldPictureTests {
    @Test(arguments: FieldFile.allCases) func `a picture of the field is decoded whole, for faces and for jobs`(file: FieldFile) throws {
        let bytes = try file.bytes()
        let image = try Samples.decoder.decodeUpright(bytes, maxSide: 4_000).image
        #expect((image.width, image.height) == FieldFile.size)
        let framed = try Samples.pipeline.finish(bytes, format: .png)
        #expect((framed.width, framed.height) == FieldFile.size)
    }

    @Test func `an iPhone's gain map and EXIF data that belong to two pictures change no pixel`() throws {
        let (old, new) = (try FieldFile.iOS17.bytes(), try FieldFile.iOS18.bytes())
        #expect(try Samples.decoder.decodeUpright(new).image == Samples.decoder.decodeUpright(old).image)
    }

    @Test(arguments: [1, 4, 100, 5_000]) func `a JPEG without its end marker and a part of its data is corrupt`(missing: Int) throws {
        let file = Array(try FieldFile.openEnded.bytes().dropLast(missing))
        #expect(code { _ = try Samples.decoder.decodeUpright(file) } == .corrupt)
        #expect(code { _ = try Samples.pipeline.finish(file) } == .corrupt)
    }

    @Test func `a progressive JPEG without its end marker is decoded with a trailer too, and is corrupt without some data`()
        throws
    {
        let file = Array(try FieldFile.progressiveWithTrailer.bytes().dropLast(20))
        let whole = try Samples.decoder.decodeUpright(file).image
        for appended in [[7], [UInt8](repeating: 0, count: 5_000), Array("a trailer".utf8)] as [[UInt8]] {
            #expect(try Samples.decoder.decodeUpright(file + appended).image == whole)
        }
        #expect(code { _ = try Samples.decoder.decodeUpright(Array(file.dropLast(100))) } == .corrupt)
    }

    @Test func `a PNG without its end is decoded, and one that lacks data is corrupt`() throws {
        let file = Samples.noise(side: 64)
        let whole = try Samples.decoder.decodeUpright(file).image
        for appended in [[], [0, 0], Array("a trailer that is no chunk".utf8)] as [[UInt8]] {
            let open = Array(file.dropLast(12)) + appended
            #expect(try Samples.decoder.decodeUpright(open).image == whole)
            #expect(try Samples.pipeline.finish(open, format: .png).width == 64)
        }
        let data = try #require(file.firstRange(of: Array("IDAT".utf8)))
        let half = (file.count - 12 - data.upperBound) / 2
        let length = (0..<4).map { UInt8(truncatingIfNeeded: half >> (24 - 8 * $0)) }
        // A whole chunk with half of the data; its checksum is wrong, as it is of no matter which part came.
        let cut = file[..<(data.lowerBound - 4)] + length + file[data.lowerBound..<(data.upperBound + half)] + [0, 0, 0, 0]
        #expect(code { _ = try Samples.decoder.decodeUpright(Array(cut)) } == .corrupt)
    }

    @Test(arguments: [SmallFiles.grey, SmallFiles.webP, SmallFiles.heic, Samples.noise(side: 64)])
    func `what follows a picture does not change it`(file: [UInt8]) throws {
        let appended = Array("MotionPhoto_Data".utf8) + [UInt8](0...255)
        #expect(try Samples.decoder.decodeUpright(file + appended).image == Samples.decoder.decodeUpright(file).image)
    }

    @Test func `a picture of fewer pixels than are needed is too small, and not damaged`() {
        #expect(code { _ = try Samples.decoder.decodeUpright(SmallFiles.grey, minSide: 2_000) } == .tooSmall)
    }
}
