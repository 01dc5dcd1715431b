public import Foundation

/// The pictures that a notification may show, in the order in which they are tried.
public struct AttachmentPlan: Sendable, Hashable {
    /// The largest picture that the system attaches, in bytes.
    public static let maxBytes = 10_000_000
    private static let maxURLBytes = 2_048

    /// The addresses to try, the preferred one first; https only.
    public let candidates: [URL]

    /// Chooses the addresses of a push: `fcm_options.image`, then the data's `attachment-url` and `image_url`.
    ///
    /// - Parameters:
    ///   - message: The push.
    ///   - hosts: The only hosts that pictures are loaded from, without regard to case; a name that begins with a dot stands for all below
    ///     it. Nil allows all, for the app's server may name pictures of any host.
    public init(_ message: PushMessage, hosts: Set<String>? = nil) {
        let payload = message.payload
        let texts = [payload.values["fcm_options"]?["image"]?.string, payload.data["attachment-url"], payload.data["image_url"]]
        var candidates: [URL] = []
        for url in texts.compactMap({ $0.flatMap { Self.usable($0, hosts) } }) where !candidates.contains(url) { candidates.append(url) }
        self.candidates = candidates
    }

    private static func usable(_ text: String, _ hosts: Set<String>?) -> URL? {
        guard text.utf8.count <= maxURLBytes, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), let url = URL(string: text),
            url.scheme?.lowercased() == "https", url.user == nil, url.password == nil, let host = url.host?.lowercased(), !host.isEmpty
        else { return nil }
        guard let hosts else { return url }
        let isAllowed = hosts.contains { allowed in
            let allowed = allowed.lowercased()
            return allowed.hasPrefix(".") ? host.hasSuffix(allowed) : host == allowed
        }
        return isAllowed ? url : nil
    }
}

/// The types of pictures that the system attaches.
public enum AttachmentType: String, Sendable, Hashable, CaseIterable {
    case jpeg
    case png
    case gif

    /// The ending of the file's name, by which the system finds the type.
    public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

    /// The uniform type identifier.
    public var typeIdentifier: String { self == .gif ? "com.compuserve.gif" : "public.\(rawValue)" }

    /// The type of a picture by its first bytes; nil when they are of no picture that the system attaches, or when the server says
    /// that it sent something else than a picture.
    init?(firstBytes: Data, contentType: String?) {
        let declared = contentType?.split(separator: ";").first?.trimmingCharacters(in: .whitespaces).lowercased()
        guard declared == nil || declared == "application/octet-stream" || declared?.hasPrefix("image/") == true else { return nil }
        let signatures: [(type: Self, bytes: [UInt8])] = [
            (.jpeg, [0xff, 0xd8, 0xff]), (.png, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), (.gif, Array("GIF87a".utf8)),
            (.gif, Array("GIF89a".utf8)),
        ]
        guard let type = signatures.first(where: { firstBytes.starts(with: $0.bytes) })?.type else { return nil }
        self = type
    }
}
