internal import FoundationEssentials
internal import Hummingbird
internal import NIOCore

/// Sends the files of an archive, each piece when the connection has flushed the one before it.
///
/// Its methods are `@concurrent` like the methods of the writer, which is not sendable.
struct ExportArchive {
    /// The writer of the response's body, positioned after the written bytes.
    private(set) var writer: any ResponseBodyWriter
    private let context: APIRequestContext
    private let watch: ExportWatch
    private var zip = ZipWriter(time: ZipTime(Date()))

    init(_ writer: any ResponseBodyWriter, _ context: APIRequestContext, _ watch: ExportWatch) {
        self.writer = writer
        self.context = context
        self.watch = watch
    }

    /// Begins a file.
    @concurrent mutating func begin(_ path: String) async throws { try await send(ByteBuffer(bytes: zip.begin(path))) }

    /// Adds data to the file.
    @concurrent mutating func add(_ data: ByteBuffer) async throws {
        try data.withUnsafeReadableBytes { bytes in try zip.add(bytes) }
        try await send(data)
    }

    /// Ends the file.
    @concurrent mutating func end() async throws { try await send(ByteBuffer(bytes: zip.end())) }

    /// Ends the archive.
    @concurrent mutating func finish() async throws {
        for piece in try zip.finish() { try await send(ByteBuffer(bytes: piece)) }
    }

    @concurrent private mutating func send(_ bytes: ByteBuffer) async throws {
        try await writer.write(bytes)
        try await context.waitUntilFlushed()
        try await watch.renewIfDue()
    }
}
