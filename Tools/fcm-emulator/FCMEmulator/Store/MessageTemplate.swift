#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The text of an accepted request but for the registration it is to: what all pushes of a fan-out have in common.
///
/// A fan-out sends the same text to many registrations. Its first request is parsed and checked whole; a later one that
/// differs in nothing but the characters of the registration, of which neither the rest's meaning nor its size depends,
/// needs only that registration checked. The parser says where the registration stands, so that no text that merely
/// looks like it can be taken for it.
final class MessageTemplate: Sendable {
    /// The request up to the registration; all of it when it names none.
    private let prefix: [UInt8]
    /// The request after the registration.
    private let suffix: [UInt8]
    /// Whether the registration is an installation id.
    private let isFID: Bool
    /// Whether the request only wants to know if the message would be accepted.
    let isValidateOnly: Bool

    /// The template of a request that was accepted as valid.
    ///
    /// - Parameter place: Where the registration stands in the bytes; nil when there is none, or several might be meant.
    init(_ bytes: [UInt8], _ request: SendRequest, place: Range<Int>?) {
        isValidateOnly = request.validateOnly
        if case .fid = request.target { isFID = true } else { isFID = false }
        if let place, request.target.registration.map({ bytes[place].elementsEqual($0.utf8) }) == true {
            prefix = Array(bytes[..<place.lowerBound])
            suffix = Array(bytes[place.upperBound...])
            isSpliced = true
        } else {
            prefix = bytes
            suffix = []
            isSpliced = false
        }
    }

    /// Whether requests to other registrations can have this template.
    let isSpliced: Bool

    /// The target of a request that differs from the template's in nothing but that; nil when it differs in more.
    func target(of bytes: [UInt8]) -> MessageTarget? {
        let length = bytes.count - prefix.count - suffix.count
        guard isSpliced, length > 0 else { return nil }
        let end = prefix.count + length
        // The suffix first: it is the longer part, and where two templates differ.
        guard Self.isEqual(bytes, from: end, suffix), Self.isEqual(bytes, from: 0, prefix) else { return nil }
        let registration = bytes[prefix.count..<end]
        guard isFID ? RegistrationShape.isFID(registration) : RegistrationShape.isToken(registration) else { return nil }
        let text = String(decoding: registration, as: UTF8.self)
        return isFID ? .fid(text) : .token(text)
    }

    /// Whether the part stands there; there are enough bytes for it.
    private static func isEqual(_ bytes: [UInt8], from start: Int, _ part: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { whole in
            part.withUnsafeBytes { part in
                guard let here = whole.baseAddress, let there = part.baseAddress else { return part.isEmpty }
                return memcmp(here + start, there, part.count) == 0
            }
        }
    }

    /// The whole message to that registration, all names in snake_case.
    func message(to registration: String?) -> JSONValue {
        let bytes = isSpliced ? prefix + Array((registration ?? "").utf8) + suffix : prefix
        // What is kept was valid when it was accepted.
        guard let body = JSONValue(parsing: bytes), let request = try? SchemaReader.read(body, as: .request) else {
            return nil
        }
        return request["message"] ?? nil
    }
}

/// The templates used last, by which a fan-out's requests are recognised.
struct TemplateCache {
    /// How many are tried: a fan-out has one text for each badge and locale.
    private static let capacity = 64
    private var templates: [MessageTemplate] = []

    /// The template of a request, and the request's target; nil when it must be read whole.
    mutating func match(_ bytes: [UInt8]) -> (MessageTemplate, MessageTarget)? {
        for (index, template) in templates.enumerated() {
            guard let target = template.target(of: bytes) else { continue }
            if index > 0 { templates.swapAt(index, index / 2) }
            return (template, target)
        }
        return nil
    }

    /// Remembers a template, in place of one that has not been used lately.
    mutating func add(_ template: MessageTemplate) {
        guard template.isSpliced else { return }
        if templates.count >= Self.capacity { templates.removeLast() }
        templates.insert(template, at: templates.count / 2)
    }
}
