internal import Foundation

/// A `multipart/form-data` body as apps send it.
struct LoadForm {
    private struct Part {
        let head: String
        let contents: [UInt8]
    }

    private let boundary = "heliograph-\(UUID().uuidString)"
    private var parts: [Part] = []

    var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    mutating func add(_ name: String, _ value: String) {
        parts.append(Part(head: "Content-Disposition: form-data; name=\"\(name)\"", contents: Array(value.utf8)))
    }

    mutating func add(_ name: String, _ picture: LoadPicture) {
        let head = "Content-Disposition: form-data; name=\"\(name)\"; filename=\"photo\"\r\nContent-Type: \(picture.type)"
        parts.append(Part(head: head, contents: picture.bytes))
    }

    func encoded() -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(parts.reduce(100) { $0 + $1.contents.count + $1.head.utf8.count + boundary.utf8.count + 16 })
        for part in parts {
            body += "--\(boundary)\r\n\(part.head)\r\n\r\n".utf8
            body += part.contents
            body += "\r\n".utf8
        }
        body += "--\(boundary)--\r\n".utf8
        return body
    }
}
