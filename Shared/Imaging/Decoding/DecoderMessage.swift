/// A message of a decoder to its worker: a kind and a length, each a number of the machine, and as many bytes as the length says.
///
/// A decoder sends `ready` once, when it is started. For each request it sends one `picture`, its pixels in any number of `rows`, and
/// one `end`; or, at any point of that, one `failure`.
package enum DecoderMessage: Sendable {
    /// The kinds, by their numbers on the wire.
    package enum Kind: Int, Sendable { case ready = 1, picture, rows, end, failure }

    /// Bytes of a message before its content.
    static let headerBytes = 2 * MemoryLayout<Int>.size
    /// The largest content of a message that is not `rows`, in bytes.
    static let maxTextBytes = 256

    case ready(SandboxState)
    case picture(DecodedSize)
    case end
    case failure(ImagingError)

    /// The beginning of a message of a kind whose content has that many bytes.
    package static func header(_ kind: Kind, byteCount: Int) -> [UInt8] {
        [kind.rawValue, byteCount].withUnsafeBytes { Array($0) }
    }

    /// The whole message.
    package var encoded: [UInt8] {
        switch self {
        case .ready(let state): Self.encode(.ready, Self.content(of: state))
        case .picture(let size): Self.encode(.picture, size.numbers.withUnsafeBytes { Array($0) })
        case .end: Self.encode(.end, [])
        case .failure(let error):
            Self.encode(.failure, [UInt8(ImagingError.Code.allCases.firstIndex(of: error.code) ?? 0)] + Array(error.message.utf8))
        }
    }

    /// Decodes the content of a message; nil when it is not valid.
    init?(_ kind: Kind, _ content: [UInt8]) {
        switch kind {
        case .ready:
            guard let state = Self.state(content) else { return nil }
            self = .ready(state)
        case .picture:
            guard let numbers = DecodeRequest.numbers(content, count: 5) else { return nil }
            self = .picture(
                DecodedSize(
                    width: numbers[0], height: numbers[1], bands: numbers[2], originalWidth: numbers[3], originalHeight: numbers[4]))
        case .end:
            guard content.isEmpty else { return nil }
            self = .end
        case .failure:
            guard let first = content.first, ImagingError.Code.allCases.indices.contains(Int(first)) else { return nil }
            self = .failure(ImagingError(ImagingError.Code.allCases[Int(first)], Self.text(content.dropFirst())))
        case .rows: return nil
        }
    }

    private static func encode(_ kind: Kind, _ content: [UInt8]) -> [UInt8] {
        let content = content.prefix(maxTextBytes)
        return header(kind, byteCount: content.count) + content
    }

    private static func content(of state: SandboxState) -> [UInt8] {
        switch state {
        case .entered: [0]
        case .off: [1]
        case .unsupported(let reason): [2] + Array(reason.utf8)
        }
    }

    private static func state(_ content: [UInt8]) -> SandboxState? {
        switch content.first {
        case 0: .entered
        case 1: .off
        case 2: .unsupported(reason: text(content.dropFirst()))
        default: nil
        }
    }

    /// The printable characters of a text that goes into the log.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
