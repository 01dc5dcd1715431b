import Foundation
import Testing

@testable import MobileClient

/// An exchange of `Tests/Golden/http`, which identity-api's tests hold the server to, with values in the places of its placeholders.
struct GoldenFile {
    static let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Golden/http")
    /// The instant in the places of `<time>`, and the seconds in those of `<number>`.
    static let time = Date(timeIntervalSince1970: 1_800_000_000)
    static let seconds = 600
    /// The text in the places of `<reference>`.
    static let reference = "KFTM"
    /// The text in the places of `<token>`.
    static let token = "token-of-this-run"

    /// The names of all exchanges.
    static var names: Set<String> {
        get throws {
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            return Set(files.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) })
        }
    }

    /// The id in the places of `<uuid:name>`, or of `<uuid>`.
    static func id(_ name: String = "") -> UUID {
        // FNV-1a: another id for each name, the same in each run.
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * $0)) }
        return UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]))
    }

    /// The bytes of `<jpeg:1>`, and of the other pictures.
    static func picture(_ placeholder: String) -> Data {
        placeholder.hasPrefix("<jpeg") ? Data([0xFF, 0xD8, 0xFF] + Array(placeholder.utf8)) : Data("<svg/>".utf8)
    }

    let method: String
    /// With the query.
    let path: String
    let headers: [String: String]
    /// As JSON; nil for none.
    let body: NSObject?
    let response: TransportResponse

    init(_ name: String) throws {
        let data = try Data(contentsOf: Self.folder.appendingPathComponent("\(name).json"))
        let file = try #require(Self.fill(try JSONSerialization.jsonObject(with: data)) as? [String: [String: Any]])
        let (request, answer) = (try #require(file["request"]), try #require(file["response"]))
        method = try #require(request["method"] as? String)
        path = try #require(request["path"] as? String)
        headers = try #require(request["headers"] as? [String: String])
        body = request["body"].flatMap { $0 is NSNull ? nil : $0 as? NSObject }
        var response = TransportResponse(status: try #require(answer["status"] as? Int))
        for (name, value) in try #require(answer["headers"] as? [String: String]) { response.headers[name] = value }
        switch answer["body"] {
        case let text as String: response.body = Data(text.utf8)
        case let value? where !(value is NSNull): response.body = try JSONSerialization.data(withJSONObject: value)
        default: break
        }
        self.response = response
    }

    private static func fill(_ value: Any, of name: String = "") -> Any {
        switch value {
        case let values as [Any]: return values.map { fill($0) }
        case let members as [String: Any]: return Dictionary(uniqueKeysWithValues: members.map { ($0, fill($1, of: $0)) })
        case let text as String:
            if text == "<number>", ["expires_in", "mail_after", "resend_after", "retry_after"].contains(name) { return seconds }
            return fill(text)
        default: return value
        }
    }

    private static func fill(_ text: String) -> String {
        text.replacing(/<uuid:?(\w*)>/) { id(String($0.output.1)).wireText }
            .replacing(/<token:?(\w*)>/) { $0.output.1.isEmpty ? token : "token-\($0.output.1)" }
            .replacing("<time>", with: WireDate.text(time)).replacing("<number>", with: "\(seconds)").replacing("<code>", with: "123456")
            .replacing("<pose>", with: "right").replacing("<reference>", with: reference)
    }
}
