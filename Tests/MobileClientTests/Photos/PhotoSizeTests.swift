import Foundation
import Testing

@testable import MobileClient

@Suite struct PhotoSizeTests {
    private static func size(of photo: PhotoSource, _ format: PictureFormat) throws -> [Int]? {
        PhotoSize(of: try PhotoReader(photo), format).map { [$0.width, $0.height] }
    }

    static let heads: [(PictureFormat, Data)] = [
        (.jpeg, PhotoHeads.jpeg(12_000, 3_000)), (.png, PhotoHeads.png(12_000, 3_000)), (.webp, PhotoHeads.webp("VP8 ", 12_000, 3_000)),
        (.webp, PhotoHeads.webp("VP8L", 12_000, 3_000)), (.webp, PhotoHeads.webp("VP8X", 12_000, 3_000)),
        (.heic, PhotoHeads.heic(12_000, 3_000)),
    ]

    @Test(arguments: heads) func `the size of a photo is that of its head, in memory and in a file`(format: PictureFormat, head: Data)
        throws
    {
        #expect(try Self.size(of: .data(head), format) == [12_000, 3_000])
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "photo")
        try head.write(to: file)
        #expect(try Self.size(of: .file(file), format) == [12_000, 3_000])
    }

    @Test func `the size of a photo with much metadata is found behind it`() throws {
        #expect(try Self.size(of: .data(PhotoHeads.jpeg(8_000, 6_000, metadata: 100)), .jpeg) == [8_000, 6_000])
    }

    @Test(arguments: heads) func `a head that is cut has no size`(format: PictureFormat, head: Data) throws {
        let end = format == .jpeg ? head.count - 3 : head.count
        for length in Set([0, 4, 13, 25, end / 2, end - 1]) where length < end {
            #expect(try Self.size(of: .data(head.prefix(length)), format) == nil, "\(length) of \(head.count) bytes")
        }
    }

    @Test func `numbers that cannot be a size are refused`() {
        for (width, height) in [(0, 1), (1, 0), (1 << 31, 1), (1, 1 << 62)] { #expect(PhotoSize(width: width, height: height) == nil) }
    }
}
