import NIOCore

/// The name that FCM gives to an accepted message; its form depends on the target, and clients must treat it as opaque.
///
/// The id is derived from one number that no two messages share, so only the number is kept.
struct MessageName: Sendable, CustomStringConvertible {
    /// The kind of target that the form of the name shows.
    enum Form: Sendable {
        case topic, android, other

        /// The form for a phone; nil stands for a topic or condition.
        init(_ platform: DevicePlatform?) {
            switch platform {
            case nil: self = .topic
            case .android: self = .android
            case .ios: self = .other
            }
        }
    }

    let project: String
    /// The time of acceptance, in microseconds since 1970, or the next unused number.
    let number: Int
    let form: Form

    /// The part after the last slash.
    var id: String {
        switch form {
        case .topic: String(1_000_000_000_000_000_000 + mixed % 9_000_000_000_000_000_000)
        case .android: "0:\(number)%" + String(mixed | 1 << 63, radix: 16)
        case .other: String(number)
        }
    }

    /// The whole name.
    var description: String { "projects/\(project)/messages/\(id)" }

    /// The answer to the message, in the layout of Google's APIs.
    var answer: ByteBuffer {
        // Written directly, because a JSON tree or an intermediate string would be most of the cost of the answer. Names need no
        // escaping.
        var answer = ByteBufferAllocator().buffer(capacity: 128)
        answer.writeStaticString("{\n  \"name\": \"projects/")
        answer.writeString(project)
        answer.writeStaticString("/messages/")
        answer.writeString(id)
        answer.writeStaticString("\"\n}\n")
        return answer
    }

    /// The bits of the number under a bijective mixing, so that neighbouring numbers differ: the finaliser of SplitMix64.
    private var mixed: UInt64 {
        var bits = UInt64(truncatingIfNeeded: number) &+ 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return bits ^ bits >> 31
    }
}
