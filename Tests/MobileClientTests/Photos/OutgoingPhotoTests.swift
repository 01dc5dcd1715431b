import Foundation
import Testing

@testable import MobileClient

@Suite struct OutgoingPhotoTests {
    private static func outgoing(_ photo: Data, _ limits: PhotoLimits, _ scaler: FakeScaler?) async throws -> OutgoingPhoto {
        try await OutgoingPhoto(.data(photo), limits, field: "photo", scaler: scaler)
    }

    private static let tooManyBytes = Data([0xFF, 0xD8, 0xFF]) + Data(count: 10 << 20)

    @Test(arguments: [
        (PhotoLimits.picture, PhotoHeads.jpeg(8_000, 5_000)), (.picture, PhotoHeads.heic(3_000, 12_000)),
        (.picture, PhotoHeads.webp("VP8X", 12_000, 3_333)), (.face, PhotoHeads.heic(4_000, 4_000)), (.face, PhotoHeads.png(12_000, 1_333)),
        (.face, Data([0xFF, 0xD8, 0xFF]) + Data(count: (10 << 20) - 3)),
    ]) func `a photo within the limits is sent as it is`(limits: PhotoLimits, photo: Data) async throws {
        let scaler = FakeScaler()
        #expect(try await Self.outgoing(photo, limits, scaler).content == .data(photo))
        #expect(scaler.count == 0)
    }

    /// The last column is the longer side that it is scaled to.
    static let larger: [(PhotoLimits, Data, Int)] = [
        // 48 megapixels, a panorama, and one pixel more than a side may have.
        (.picture, PhotoHeads.heic(8_064, 6_048), 4_618), (.picture, PhotoHeads.jpeg(16_000, 3_600), 8_192),
        (.picture, PhotoHeads.jpeg(12_001, 100), 8_192), (.picture, PhotoHeads.png(100, 12_001), 8_192),
        (.picture, tooManyBytes, 4_000), (.face, PhotoHeads.jpeg(6_000, 4_000), 4_096),
        (.face, PhotoHeads.webp("VP8L", 9_000, 9_000), 3_464),
        (.face, PhotoHeads.heic(1_500, 12_000), 4_096), (.face, tooManyBytes, 3_464),
    ]

    @Test(arguments: larger) func `a larger photo is scaled down`(limits: PhotoLimits, photo: Data, side: Int) async throws {
        let scaler = FakeScaler()
        let outgoing = try await Self.outgoing(photo, limits, scaler)
        #expect(outgoing.format == .jpeg && outgoing.content == .data(FakeScaler.jpeg))
        #expect(scaler.sides.withLock { $0 } == [side])
    }

    @Test func `a photo that is small and more than 10 MB is not scaled up`() {
        #expect(PhotoLimits.face.scaledSide(of: PhotoSize(width: 300, height: 400)) == 400)
    }

    @Test func `a photo that is more than 10 MB when it is scaled is made smaller still`() async throws {
        let scaler = FakeScaler { $0 > 2_000 ? Self.tooManyBytes : FakeScaler.jpeg }
        #expect(try await Self.outgoing(Self.tooManyBytes, .picture, scaler).content == .data(FakeScaler.jpeg))
        #expect(scaler.sides.withLock { $0 } == [4_000, 2_000])
    }

    private static let refusal = HeliographError(
        .invalidArgument,
        "A photo has up to 10 MB, 40 megapixels and 12000 pixels a side, and this one cannot be scaled down here: give a smaller one",
        field: "photo")

    @Test(arguments: [nil, FakeScaler { _ in nil }, FakeScaler { _ in Self.tooManyBytes }] as [FakeScaler?])
    func `a larger photo that cannot be scaled down is refused`(scaler: FakeScaler?) async {
        await #expect(throws: Self.refusal) { try await Self.outgoing(PhotoHeads.jpeg(8_064, 6_048), .picture, scaler) }
    }

    @Test func `a damaged photo is decoded once`() async {
        let scaler = FakeScaler { _ in nil }
        _ = try? await Self.outgoing(PhotoHeads.jpeg(8_064, 6_048), .picture, scaler)
        #expect(scaler.count == 1)
    }
}
