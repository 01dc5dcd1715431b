internal import Accounts
internal import BlobStore
internal import FoundationEssentials
internal import HeliographCrypto
internal import ImageProbe
internal import JSON
internal import NIOCore
internal import PostgresClient
internal import WireFormat

/// The content of an export: `account.json`, a file for each ``ExportedList``, and the user's pictures, named by their job or photo.
///
/// One page of a list and one piece of a picture are in memory, or one whole photo of an event, which is sealed as a whole.
struct AccountExport: Sendable {
    /// The number of records that are read at once.
    private static let pageSize = 200
    /// The maximum size of the result of a job.
    private static let maxResultBytes = 64 * 1_024 * 1_024

    let account: AccountOverview
    let userID: UUID
    let postgres: PostgresClient
    let blobs: any BlobStore
    let keys: AccountKeys

    @concurrent func write(to archive: inout ExportArchive) async throws {
        try await archive.begin("account.json")
        try await archive.add(ByteBuffer(bytes: account.json.bytes + [UInt8(ascii: "\n")]))
        try await archive.end()
        for list in ExportedList.allCases { try await write(list, to: &archive) }
        var omitted: [JSONValue] = []
        try await writeResults(to: &archive, &omitted)
        try await writePhotos(to: &archive, &omitted)
        if !omitted.isEmpty {
            try await archive.begin("omitted.json")
            try await archive.add(ByteBuffer(bytes: JSONValue.array(omitted).bytes + [UInt8(ascii: "\n")]))
            try await archive.end()
        }
        try await archive.finish()
    }

    /// Writes a list as an array, one record a line.
    @concurrent private func write(_ list: ExportedList, to archive: inout ExportArchive) async throws {
        let exports = ExportRepository(postgres)
        try await archive.begin("\(list.rawValue).json")
        var last: ExportedRecord?
        var records: [ExportedRecord] = []
        repeat {
            records = try await exports.records(of: list, userID: userID, after: last, limit: Self.pageSize)
            var page = ByteBuffer()
            for record in records {
                page.writeString(last == nil ? "[\n" : ",\n")
                page.writeString(try text(of: record, in: list))
                last = record
            }
            if records.count < Self.pageSize { page.writeString(last == nil ? "[]\n" : "\n]\n") }
            try await archive.add(page)
        } while records.count == Self.pageSize
        try await archive.end()
    }

    private func text(of record: ExportedRecord, in list: ExportedList) throws -> String {
        guard list == .reports, let sealed = record.sealed, let id = UUID(wireString: record.id) else { return record.json }
        var json = try JSONValue(parsing: Array(record.json.utf8))
        json["text"] = .string(try keys.opened(sealed, context: SealingContext.report(id: id)))
        return json.text
    }

    /// Writes the results of image jobs as `images/<job>.<type>`.
    @concurrent private func writeResults(to archive: inout ExportArchive, _ omitted: inout [JSONValue]) async throws {
        let exports = ExportRepository(postgres)
        var page: [ExportedPicture] = []
        repeat {
            page = try await exports.results(of: userID, after: page.last?.id, limit: Self.pageSize)
            for picture in page {
                let key = try BlobKey(picture.key)
                let name = "images/\(picture.id)"
                guard let reader = try await open(key) else {
                    omitted.append(Self.omission(of: name))
                    continue
                }
                try await archive.begin("\(name).\(PictureType(of: key)?.fileExtension ?? "bin")")
                var offset = 0
                while offset < reader.byteCount {
                    let piece = try await reader.read(from: offset, upTo: reader.byteCount)
                    offset += piece.readableBytes
                    try await archive.add(piece)
                }
                try await archive.end()
            }
        } while page.count == Self.pageSize
    }

    /// Writes photos of events as `photos/<photo>.<type>`, as they were uploaded.
    @concurrent private func writePhotos(to archive: inout ExportArchive, _ omitted: inout [JSONValue]) async throws {
        let exports = ExportRepository(postgres)
        var page: [ExportedPicture] = []
        repeat {
            page = try await exports.photos(of: userID, after: page.last?.id, limit: Self.pageSize)
            for picture in page {
                let name = "photos/\(picture.id)"
                guard let bytes = try await blobs.readIfPresent(picture.key, limit: PictureLimits.maxBytes) else {
                    omitted.append(Self.omission(of: name))
                    continue
                }
                try await archive.begin("\(name).\(Self.fileExtension(of: bytes))")
                try await archive.add(ByteBuffer(bytes: bytes))
                try await archive.end()
            }
        } while page.count == Self.pageSize
    }

    /// Opens a picture; nil when it was deleted meanwhile, or cannot be read ever again.
    private func open(_ key: BlobKey) async throws -> (any BlobReader)? {
        do throws(BlobStoreError) {
            return try await blobs.openMedia(key, limit: Self.maxResultBytes)
        } catch {
            switch error.code {
            case .notFound, .damaged, .tooLarge, .invalidKey: return nil
            case .unavailable: throw error
            }
        }
    }

    private static func omission(of name: String) -> JSONValue { .members(("file", .string(name)), ("reason", "unreadable")) }

    /// The file extension of a photo by its bytes.
    private static func fileExtension(of bytes: [UInt8]) -> String {
        var probe = ImageProbe()
        do throws(ImageProbeError) {
            try probe.feed(bytes.span.bytes)
            return try probe.finish().format.fileExtension
        } catch {
            return "bin"
        }
    }
}
