import BlobStore
import Foundation
import HeliographCrypto
import Logging
import NIOCore
import TestSupport
import Testing

/// The kinds of store, which must behave identically.
enum Backend: CaseIterable, Sendable {
    case fileSystem
    case s3

    /// Runs a test on a store of its own: a directory, or keys of a bucket with a unique prefix.
    func withStore(_ body: (any BlobStore, Keys) async throws -> Void) async throws {
        switch self {
        case .fileSystem:
            try await withFileSystemStore { store, root in
                try await body(store, Keys(prefix: "t"))
                let remains = try? FileManager.default.contentsOfDirectory(atPath: "\(root)/.partial")
                #expect(remains ?? [] == [], "no test leaves an unfinished write")
            }
        case .s3:
            let store = try await s3Store(S3Server.shared())
            try await body(store, Keys(prefix: "t\(UUID().uuidString.lowercased())"))
        }
    }
}

/// Runs a test with a store in a directory of its own.
func withFileSystemStore(_ body: (FileSystemBlobStore, _ root: String) async throws -> Void) async throws {
    let root = NSTemporaryDirectory() + "blobs-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: root) }
    try await body(FileSystemBlobStore(root: root, sealer: try testSealer()), root)
}

/// Makes keys with a prefix that is unique to one test.
struct Keys: Sendable {
    let prefix: String

    func callAsFunction(_ name: String) throws -> BlobKey { try BlobKey("\(prefix)/\(name)") }
    var all: BlobKey { get throws { try BlobKey(prefix) } }
}

func testSealer(_ byte: UInt8 = 1) throws -> Sealer {
    let key = Data(repeating: byte, count: 32).base64EncodedString()
    return Sealer(keyRing: try KeyRing(parsing: "k\(byte):\(key)"))
}

func s3Store(
    _ server: S3Server, sealer byte: UInt8 = 1, ring: String? = nil, configure: (inout S3Configuration) -> Void = { _ in }
) throws -> S3BlobStore {
    var configuration = S3Configuration(
        endpoint: server.url, bucket: S3Server.bucket, region: S3Server.region, accessKeyID: server.accessKeyID,
        secretAccessKey: server.secretAccessKey)
    configuration.retryDelay = .milliseconds(10)
    configure(&configuration)
    let sealer = try ring.map { Sealer(keyRing: try KeyRing(parsing: $0)) } ?? testSealer(byte)
    return S3BlobStore(configuration: configuration, sealer: sealer, logger: Logger(label: "test"))
}

extension BlobStore {
    /// Writes an object in pieces.
    func write(_ bytes: [UInt8], to key: BlobKey, as access: BlobAccess = .sealed, step: Int = 10_000) async throws {
        try await write(key, as: access) { writer in
            for start in stride(from: 0, to: bytes.count, by: step) {
                try await writer.append(ByteBuffer(bytes: bytes[start..<min(start + step, bytes.count)]))
            }
        }
    }

    /// Returns the error of reading an object; nil when it succeeds.
    func readingFailure(_ key: BlobKey, kind: BlobKind = .sealed, limit: Int = 1_000_000) async -> BlobStoreError.Code? {
        do throws(BlobStoreError) {
            _ = try await read(key, kind: kind, limit: limit)
            return nil
        } catch {
            return error.code
        }
    }
}

/// Returns the error of `work`, if it is one of a store.
func blobFailure(_ work: () async throws -> Void) async -> BlobStoreError? {
    do {
        try await work()
        return nil
    } catch {
        return error as? BlobStoreError
    }
}
