internal import Foundation

/// A photo as the app hands it over: in memory, or in a file that stays where it is.
enum PhotoSource: Sendable, Equatable {
    case data(Data)
    case file(URL)

    /// The content of the part of a form that has the photo's own bytes.
    var content: MultipartFileWriter.Part.Content {
        switch self {
        case .data(let data): .data(data)
        case .file(let url): .file(url)
        }
    }
}

/// Reads pieces of a photo, so that the memory does not grow with it.
struct PhotoReader {
    /// The bytes of the photo.
    let count: Int
    private let read: (_ length: Int, _ offset: Int) throws -> Data?

    /// - Throws: The error of the system for a file that cannot be read.
    init(_ photo: PhotoSource) throws {
        switch photo {
        case .data(let data):
            count = data.count
            read = { length, offset in data.dropFirst(offset).prefix(length) }
        case .file(let url):
            let handle = try FileHandle(forReadingFrom: url)
            count = Int(clamping: try handle.seekToEnd())
            read = { length, offset in
                try handle.seek(toOffset: UInt64(offset))
                return try handle.read(upToCount: length)
            }
        }
    }

    /// The bytes at an offset, fewer where the photo ends before.
    func prefix(_ length: Int, at offset: Int = 0) -> Data {
        guard 0..<count ~= offset else { return Data() }
        return (try? read(length, offset)) ?? Data()
    }

    /// The bytes at an offset; nil where the photo ends before.
    func bytes(_ length: Int, at offset: Int) -> [UInt8]? {
        let bytes = Array(prefix(length, at: offset))
        return bytes.count == length ? bytes : nil
    }
}
