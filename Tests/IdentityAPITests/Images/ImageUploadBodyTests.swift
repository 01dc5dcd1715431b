import Foundation
import HTTPTypes
import HummingbirdCore
import JSON
import NIOCore
import Testing

@testable import IdentityAPI

@Suite struct ImageUploadBodyTests {
    /// Returns a body that arrives in chunks of a size.
    private func body(_ bytes: [UInt8], chunk size: Int) -> RequestBody {
        let starts = stride(from: 0, to: bytes.count, by: size)
        let chunks = starts.map { ByteBuffer(bytes: bytes[$0..<min($0 + size, bytes.count)]) }
        return RequestBody(
            asyncSequence: AsyncStream { continuation in
                for chunk in chunks { continuation.yield(chunk) }
                continuation.finish()
            })
    }

    @Test(arguments: [1, 7, 1_000, 65_536])
    func `a picture is complete and in pieces no larger than the chunks of the body`(size: Int) async throws {
        let picture = (0..<30_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var json = JSONImageBody(body(Order().with(picture: picture).json, chunk: size), limits: UploadLimits())
        var received: [UInt8] = []
        var biggest = 0
        var fields: [String] = []
        while let piece = try await json.next() {
            switch piece {
            case .pictureData(let bytes):
                biggest = max(biggest, bytes.readableBytes)
                received += bytes.readableBytesView
            case .field(let name, _): fields.append(name)
            case .pictureBegan, .pictureEnded: break
            }
        }
        #expect(received == picture)
        #expect(fields == ["template_id"])
        #expect(biggest <= max(3, size))
    }

    @Test func `data over the limit is not decoded`() async throws {
        var limits = UploadLimits()
        limits.pictureBytes = 3_000
        var json = JSONImageBody(body(Order().with(picture: Array(repeating: 1, count: 9_000)).json, chunk: 500), limits: limits)
        var decoded = 0
        let error = await #expect(throws: APIError.self) {
            while let piece = try await json.next() {
                if case .pictureData(let bytes) = piece { decoded += bytes.readableBytes }
            }
        }
        #expect(error?.code == .payloadTooLarge && error?.field == "image_base64")
        #expect(decoded <= 3_000 + 100)
    }

    @Test(arguments: [
        ("wait=10", 10), ("respond-async, wait=5", 5), ("WAIT = \"7\"", 7), ("wait=1; foo=2", 1), ("wait=x", nil), ("wait=-1", nil),
        ("respond-async", nil), ("", nil),
    ])
    func `preferences are read as in RFC 7240, and invalid ones are ignored`(value: String, seconds: Int?) {
        #expect(PreferredWait([.prefer: value]).seconds == seconds)
    }
}
