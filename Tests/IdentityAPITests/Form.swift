import Foundation
import HTTPClient
import JSON

/// A multipart form, valid or invalid.
struct Form: Sendable {
    var parts: [(name: String, filename: String?, data: [UInt8])] = []
    var boundary = "heliograph-test-boundary"
    /// The boundary in the header; nil when it is ``boundary``.
    var declaredBoundary: String?

    static let pushToken = "c1aaaaaaaaaaaaaaaaaaaa:APA91bExampleToken"

    /// The token of one of many phones.
    static func pushToken(of number: Int) -> String {
        let digits = "\(number)"
        return "dPhone" + String(repeating: "-", count: 16 - digits.count) + "\(digits):APA91bExampleToken"
    }

    static func signUp(email: String? = "new@example.org") -> Form {
        var form = Form()
        form.text("fcm_token", pushToken)
        if let email { form.text("email", email) }
        for field in ["left_faces", "right_faces", "front_faces"] { form.photos(field, 3) }
        return form
    }

    static func signIn(email: String = "known@example.org") -> Form {
        var form = Form()
        form.text("email", email)
        form.text("fcm_token", pushToken)
        form.photos("faces", 3)
        return form
    }

    mutating func text(_ name: String, _ value: String) { parts.append((name, nil, Array(value.utf8))) }

    mutating func photos(_ name: String, _ count: Int) {
        for number in 0..<count { parts.append((name, "\(name)-\(number).jpg", TestPhoto.jpeg(seed: parts.count))) }
    }

    func without(_ name: String) -> Form {
        var form = self
        form.parts.removeAll { $0.name == name }
        return form
    }

    func with(_ name: String, _ value: String) -> Form {
        var form = without(name)
        form.text(name, value)
        return form
    }

    /// Replaces the data of the last photo.
    func withLastPhoto(_ data: [UInt8]) -> Form {
        var form = self
        form.parts[form.parts.count - 1].data = data
        return form
    }

    func adding(_ name: String, _ count: Int) -> Form {
        var form = self
        form.photos(name, count)
        return form
    }

    var contentType: String { "multipart/form-data; boundary=\(declaredBoundary ?? boundary)" }

    var bytes: [UInt8] {
        var body: [UInt8] = []
        for part in parts {
            let file = part.filename.map { "; filename=\"\($0)\"\r\nContent-Type: image/jpeg" } ?? ""
            body += Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"\(part.name)\"\(file)\r\n\r\n".utf8)
            body += part.data + [13, 10]
        }
        return body + Array("--\(boundary)--\r\n".utf8)
    }
}

/// Pictures with a complete file structure that do not decode; identity-api does not decode pictures.
enum TestPhoto {
    static func jpeg(width: Int = 640, height: Int = 480, seed: Int = 0, scanBytes: Int = 2_000) -> [UInt8] {
        // Repeated by copies of what is there, because a closure a byte takes seconds for the largest pictures.
        var noise = (0..<min(scanBytes, 255)).map { UInt8(truncatingIfNeeded: ($0 &* 31 &+ seed) % 255) }
        while noise.count < scanBytes { noise += noise.prefix(scanBytes - noise.count) }
        let frame = [8] + big(height, 2) + big(width, 2) + [1, 1, 0x11, 0] as [UInt8]
        return [0xFF, 0xD8] + segment(0xE0, [UInt8](repeating: 1, count: 14)) + segment(0xC0, frame)
            + segment(0xDA, [1, 1, 0, 0, 63, 0]) + noise + [0xFF, 0xD9]
    }

    static func png(width: Int, height: Int) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + big(13, 4) + Array("IHDR".utf8) + big(width, 4) + big(height, 4)
            + [8, 2, 0, 0, 0, 0, 0, 0, 0] + big(4, 4) + Array("IDAT".utf8) + [1, 2, 3, 4, 0, 0, 0, 0]
            + big(0, 4) + Array("IEND".utf8) + [0, 0, 0, 0]
    }

    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xFF, marker] + big(content.count + 2, 2) + content
    }

    private static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}

/// JSON is read by dotted paths.
extension JSONValue {
    func value(_ path: String) -> JSONValue? { path.split(separator: ".").reduce(self) { $0?[String($1)] } }

    func text(_ path: String) -> String? { value(path)?.string }

    func number(_ path: String) -> Int? { value(path)?.integer }
}

extension HTTPClientResponse {
    var text: String { String(decoding: body, as: UTF8.self) }

    var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }

    /// The status, code and field of an error, such as `400 missing_field left_faces`.
    var refusal: String {
        let field = json.text("error.field").map { " \($0)" } ?? ""
        return "\(status) \(json.text("error.code") ?? "-")\(field)"
    }
}
