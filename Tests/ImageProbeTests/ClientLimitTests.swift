import Foundation
import ImageProbe
import TestSupport
import Testing

@testable import MobileClient

/// The client for apps scales down what the probe would refuse. It has no dependencies, so it has its own numbers and its own reader.
@Suite struct ClientLimitTests {
    @Test func `the client for apps has the limits of the probe`() {
        let limits = ImageLimits()
        #expect((PhotoLimits.maxSide, PhotoLimits.maxPixelsOfAPI) == (limits.side, limits.pixels))
        #expect((PhotoLimits.maxSide, PhotoLimits.face.maxPixels) == (ImageLimits.face.side, ImageLimits.face.pixels))
    }

    private static func check(_ bytes: [UInt8], _ name: String) throws {
        let info = try probe([bytes[...]])
        let format = try #require(PictureFormat(rawValue: info.format.rawValue))
        func size(_ length: Int) throws -> [Int]? {
            PhotoSize(of: try PhotoReader(.data(Data(bytes.prefix(length)))), format).map { [$0.width, $0.height] }
        }
        #expect(try size(bytes.count) == [info.width, info.height], "\(name)")
        for length in 0..<min(bytes.count, 4_096) {
            let size = try size(length)
            #expect(size == nil || size == [info.width, info.height], "\(name) after \(length) bytes")
        }
    }

    @Test(arguments: TestImages.samples.indices) func `the client for apps reads the size that the probe reads`(index: Int) throws {
        try Self.check(TestImages.samples[index].bytes, TestImages.samples[index].name)
    }

    @Test(arguments: FieldFile.allCases) func `the client for apps reads the size of pictures as phones write them`(file: FieldFile) throws
    {
        try Self.check(file.bytes(), file.rawValue)
    }
}
