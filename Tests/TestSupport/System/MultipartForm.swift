import Foundation

/// A `multipart/form-data` body, encoded as a phone does.
public struct MultipartForm {
    private let boundary = "heliograph-\(UUID().uuidString)"
    private var bytes: [UInt8] = []

    public init() {}

    public var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    public mutating func add(_ name: String, _ value: String) {
        bytes += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n".utf8
    }

    public mutating func add(_ name: String, file: String, type: String = "image/jpeg", _ contents: [UInt8]) {
        bytes += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"\(file).jpg\"\r\n".utf8
        bytes += "Content-Type: \(type)\r\n\r\n".utf8
        bytes += contents
        bytes += "\r\n".utf8
    }

    public func encoded() -> [UInt8] { bytes + Array("--\(boundary)--\r\n".utf8) }
}
