import JSON

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The text of an accepted request without its registration: the part that all pushes of a fan-out have in common.
///
/// A fan-out sends the same text to many registrations. Its first request is parsed and checked whole. A later one that differs
/// only in the characters of the registration needs only its registration checked, because neither the meaning nor the size of
/// the rest depends on it. The position of the registration is known when the request names it once and spells no character as a
/// number: no other text can then be mistaken for it.
final class MessageTemplate: Sendable {
    /// The request up to the registration; the whole request when the position is unknown.
    private let prefix: [UInt8]
    /// The request after the registration.
    private let suffix: [UInt8]
    /// Whether the registration is an installation id.
    private let isFID: Bool
    /// Whether the request sets `validate_only`: it is checked and not delivered.
    let isValidateOnly: Bool

    /// The template of a request that was accepted as valid.
    init(_ bytes: [UInt8], _ request: SendRequest) {
        isValidateOnly = request.validateOnly
        if case .fid = request.target { isFID = true } else { isFID = false }
        if let place = request.target.registration.flatMap({ MessageTemplate.place(of: $0, in: bytes) }) {
            prefix = Array(bytes[..<place.lowerBound])
            suffix = Array(bytes[place.upperBound...])
            isSpliced = true
        } else {
            prefix = bytes
            suffix = []
            isSpliced = false
        }
    }

    /// The position of a registration in a request; nil when there is more than one candidate.
    private static func place(of registration: String, in bytes: [UInt8]) -> Range<Int>? {
        let quoted = Array("\"\(registration)\"".utf8)
        guard let start = first(quoted, in: bytes, from: 0), first(quoted, in: bytes, from: start + 1) == nil,
            first(Array(#"\u"#.utf8), in: bytes, from: 0) == nil
        else { return nil }
        return start + 1..<start + quoted.count - 1
    }

    private static func first(_ part: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        guard let head = part.first, start + part.count <= bytes.count else { return nil }
        return (start...bytes.count - part.count).first { bytes[$0] == head && isEqual(bytes, from: $0, part) }
    }

    /// Whether requests to other registrations can have this template.
    let isSpliced: Bool

    /// The target of a request that differs from the template only in its registration; nil when it differs in more.
    func target(of bytes: [UInt8]) -> MessageTarget? {
        let length = bytes.count - prefix.count - suffix.count
        guard isSpliced, length > 0 else { return nil }
        let end = prefix.count + length
        // The suffix is compared first: it is the longer part, and the part in which two templates differ.
        guard Self.isEqual(bytes, from: end, suffix), Self.isEqual(bytes, from: 0, prefix) else { return nil }
        let registration = bytes[prefix.count..<end]
        guard isFID ? RegistrationShape.isFID(registration) : RegistrationShape.isToken(registration) else { return nil }
        let text = String(decoding: registration, as: UTF8.self)
        return isFID ? .fid(text) : .token(text)
    }

    /// Whether the bytes contain the part at that position; the caller ensures that there are enough bytes.
    private static func isEqual(_ bytes: [UInt8], from start: Int, _ part: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { whole in
            part.withUnsafeBytes { part in
                guard let here = whole.baseAddress, let there = part.baseAddress else { return part.isEmpty }
                return memcmp(here + start, there, part.count) == 0
            }
        }
    }

    /// Returns the whole message to that registration, all names in snake_case.
    func message(to registration: String?) -> JSONValue {
        let bytes = isSpliced ? prefix + Array((registration ?? "").utf8) + suffix : prefix
        // A kept request was valid when it was accepted.
        guard let body = try? JSONValue(parsing: bytes, limits: .request), let request = try? SchemaReader.read(body, as: .request) else {
            return nil
        }
        return request["message"] ?? nil
    }
}

/// The templates used last, by which a fan-out's requests are recognised.
struct TemplateCache {
    /// Maximum number of templates: a fan-out has one text for each badge and locale.
    private static let capacity = 64
    private var templates: [MessageTemplate] = []

    /// Returns the template and the target of a request; nil when the request must be parsed whole.
    mutating func match(_ bytes: [UInt8]) -> (MessageTemplate, MessageTarget)? {
        for (index, template) in templates.enumerated() {
            guard let target = template.target(of: bytes) else { continue }
            if index > 0 { templates.swapAt(index, index / 2) }
            return (template, target)
        }
        return nil
    }

    /// Adds a template; a full cache drops the one at its end, which has not been used lately.
    mutating func add(_ template: MessageTemplate) {
        guard template.isSpliced else { return }
        if templates.count >= Self.capacity { templates.removeLast() }
        templates.insert(template, at: templates.count / 2)
    }
}
