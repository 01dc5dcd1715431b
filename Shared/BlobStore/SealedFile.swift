internal import HeliographCrypto
internal import NIOCore
internal import Synchronization

/// A file that is sealed as it is written. Its methods block: call them on a thread pool.
final class SealedFile: Sendable {
    private struct State: ~Copyable {
        var sealer: StreamSealer
        var file: OpenFile?
    }

    private let key: BlobKey
    private let state: Mutex<State>

    /// - Parameters:
    ///   - file: An empty file; the sealed file takes ownership.
    ///   - key: The object's key, for error messages.
    ///   - context: The context that the content is bound to.
    init(_ file: OpenFile, of key: BlobKey, context: [UInt8], sealer: Sealer) throws(BlobStoreError) {
        self.key = key
        let streamSealer: StreamSealer
        do {
            streamSealer = try sealer.makeStreamSealer(context: context)
        } catch {
            throw BlobStoreError(.unavailable, "\(key) cannot be sealed", underlying: error)
        }
        try file.write(streamSealer.header())
        state = Mutex(State(sealer: streamSealer, file: file))
    }

    func append(_ bytes: ByteBuffer) throws(BlobStoreError) {
        try write { sealer in try bytes.withUnsafeReadableBytes { bytes in try sealer.update(bytes) } }
    }

    /// Writes the last segment and, if `isDurable`, waits until the file is on the disk.
    func finish(isDurable: Bool) throws(BlobStoreError) {
        try write { sealer in try sealer.finish() }
        try state.withLock { state throws(BlobStoreError) in
            if isDurable { try state.file?.synchronize() }
            state.file = nil
        }
    }

    /// Closes the file of an abandoned write.
    func discard() {
        state.withLock { $0.file = nil }
    }

    private func write(_ seal: (inout StreamSealer) throws -> [UInt8]) throws(BlobStoreError) {
        try state.withLock { state throws(BlobStoreError) in
            guard let file = state.file else {
                throw BlobStoreError(.unavailable, "write to \(key) after it was finished")
            }
            let sealed: [UInt8]
            do {
                sealed = try seal(&state.sealer)
            } catch {
                throw BlobStoreError(.unavailable, "\(key) cannot be sealed", underlying: error)
            }
            try file.write(sealed)
        }
    }

    /// Reads and opens a whole file.
    static func read(
        _ file: OpenFile, of key: BlobKey, context: [UInt8], limit: Int, sealer: Sealer
    ) throws(BlobStoreError) -> [UInt8] {
        try open(of: key, context: context, limit: limit, sealer: sealer) { () throws(BlobStoreError) in
            try file.read(atMost: Sealer.segmentByteCount)
        }
    }

    /// Opens the content of a whole file.
    static func open(
        _ bytes: [UInt8], of key: BlobKey, context: [UInt8], limit: Int, sealer: Sealer
    ) throws(BlobStoreError) -> [UInt8] {
        var rest = bytes[...]
        return try open(of: key, context: context, limit: limit, sealer: sealer) { () throws(BlobStoreError) in
            defer { rest = rest.dropFirst(Sealer.segmentByteCount) }
            return Array(rest.prefix(Sealer.segmentByteCount))
        }
    }

    /// Seals the content of a whole file in memory.
    static func seal(_ bytes: [UInt8], of key: BlobKey, context: [UInt8], sealer: Sealer) throws(BlobStoreError) -> [UInt8] {
        do {
            var stream = try sealer.makeStreamSealer(context: context)
            return try stream.header() + stream.update(bytes) + stream.finish()
        } catch {
            throw BlobStoreError(.unavailable, "\(key) cannot be sealed", underlying: error)
        }
    }

    /// Opens the pieces that `next` returns, until a piece is empty.
    private static func open(
        of key: BlobKey, context: [UInt8], limit: Int, sealer: Sealer, next: () throws(BlobStoreError) -> [UInt8]
    ) throws(BlobStoreError) -> [UInt8] {
        do {
            var opener = try sealer.makeStreamOpener(context: context)
            var plain: [UInt8] = []
            var chunk: [UInt8]
            repeat {
                chunk = try next()
                plain += chunk.isEmpty ? try opener.finish() : try opener.update(chunk)
                guard plain.count <= limit else { throw BlobStoreError(.tooLarge, "\(key) has more than \(limit) bytes") }
            } while !chunk.isEmpty
            return plain
        } catch let error as BlobStoreError {
            throw error
        } catch {
            throw BlobStoreError(.damaged, "\(key) does not open", underlying: error)
        }
    }
}
