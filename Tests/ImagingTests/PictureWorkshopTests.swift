import Foundation
import ImageProbe
import Imaging
import TestSupport
import Testing

enum Photos {
    static func read(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: PackageRoot.file(".cache/photos/\(name).jpg"))))
    }
}

@Suite struct PictureWorkshopTests {
    @Test func `a normalised picture is a JPEG no bigger than asked for`() throws {
        let result = try PictureWorkshop.normalise(try Photos.read("original/obama3"), maxSide: 1_000)
        #expect((result.originalWidth, result.originalHeight) == (1_434, 2_333))
        #expect((result.picture.width, result.picture.height) == (615, 1_000))
        #expect(result.picture.format == .jpeg)
    }

    @Test func `a thumbnail has exactly its size`() throws {
        let result = try PictureWorkshop.thumbnail(of: try Photos.read("original/obama3"))
        #expect((result.width, result.height) == (300, 200))
        #expect(result.bytes.count <= 300 << 10)
    }

    @Test(arguments: PictureStyle.allCases)
    func `a style gives a JPEG of the size asked for`(style: PictureStyle) throws {
        let result = try PictureWorkshop.stylise(try Photos.read("original/obama3"), style: style, width: 600)
        #expect((result.width, result.height) == (600, 976))
    }
}
