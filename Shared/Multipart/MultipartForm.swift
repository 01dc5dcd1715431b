/// A `multipart/form-data` body, encoded as a phone does.
public struct MultipartForm: Sendable {
    private let boundary = "heliograph-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
    private var bytes: [UInt8] = []

    /// Creates a form without fields.
    public init() {}

    /// The `Content-Type` of the body, with its boundary.
    public var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    /// Adds a text field.
    public mutating func add(_ name: String, _ value: String) {
        bytes += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n".utf8
    }

    /// Adds a file of that media type, with `.jpg` after its name.
    public mutating func add(_ name: String, file: String, type: String = "image/jpeg", _ contents: [UInt8]) {
        bytes += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"\(file).jpg\"\r\n".utf8
        bytes += "Content-Type: \(type)\r\n\r\n".utf8
        bytes += contents
        bytes += "\r\n".utf8
    }

    /// Returns the body with its end.
    public func encoded() -> [UInt8] { bytes + Array("--\(boundary)--\r\n".utf8) }
}
