/// The value of the W3C header `traceparent`: the parent span of the work that continues a trace.
///
/// Source: https://www.w3.org/TR/trace-context/#traceparent-header
public struct TraceParent: Sendable, Hashable, LosslessStringConvertible {
    /// The trace.
    public let traceID: TraceID
    /// The span.
    public let spanID: SpanID
    /// Whether the span is recorded, so that its children should be recorded as well.
    public let isSampled: Bool

    /// The length of version 00, the only version written.
    private static let byteCount = 55

    /// Creates a trace parent from its fields.
    public init(traceID: TraceID, spanID: SpanID, isSampled: Bool) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
    }

    /// Parses the header; nil when it is invalid. Of a later version the fields of version 00 are read, as the standard requires.
    public init?(_ text: String) {
        var text = text
        let parent: TraceParent? = text.withUTF8 { bytes in
            guard bytes.count >= Self.byteCount, [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
                let version = LowercaseHex.parse(bytes[0..<2]), version != 0xff,
                bytes.count == Self.byteCount || (version > 0 && bytes[Self.byteCount] == UInt8(ascii: "-")),
                let high = LowercaseHex.parse(bytes[3..<19]), let low = LowercaseHex.parse(bytes[19..<35]),
                let span = LowercaseHex.parse(bytes[36..<52]),
                let flags = LowercaseHex.parse(bytes[53..<55]), let traceID = TraceID(high: high, low: low), let spanID = SpanID(span)
            else { return nil }
            return TraceParent(traceID: traceID, spanID: spanID, isSampled: flags & 1 == 1)
        }
        guard let parent else { return nil }
        self = parent
    }

    /// The header's value, in version 00.
    public var description: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }
}

/// The 16 bytes that all spans of a trace share; never zero.
public struct TraceID: Sendable, Hashable, CustomStringConvertible {
    let high: UInt64
    /// The last 8 bytes, which are random in every implementation and therefore decide on sampling.
    public let low: UInt64

    /// Creates an id from two halves; nil when both are zero.
    public init?(high: UInt64, low: UInt64) {
        guard high | low != 0 else { return nil }
        self.high = high
        self.low = low
    }

    /// Generates a random id.
    public static func random() -> TraceID {
        while true {
            if let id = TraceID(high: .random(in: .min ... .max), low: .random(in: .min ... .max)) { return id }
        }
    }

    /// 32 hexadecimal digits, in lower case.
    public var description: String {
        String(unsafeUninitializedCapacity: 32) { buffer in
            LowercaseHex.write(high, into: buffer, at: 0)
            LowercaseHex.write(low, into: buffer, at: 16)
            return 32
        }
    }
}

/// The 8 bytes that name a span in its trace; never zero.
public struct SpanID: Sendable, Hashable, CustomStringConvertible {
    let value: UInt64

    /// Creates an id from a value; nil when it is zero.
    public init?(_ value: UInt64) {
        guard value != 0 else { return nil }
        self.value = value
    }

    /// Generates a random id.
    public static func random() -> SpanID {
        while true {
            if let id = SpanID(.random(in: .min ... .max)) { return id }
        }
    }

    /// 16 hexadecimal digits, in lower case.
    public var description: String {
        String(unsafeUninitializedCapacity: 16) { buffer in
            LowercaseHex.write(value, into: buffer, at: 0)
            return 16
        }
    }
}

/// Hexadecimal digits in lower case only, as the standard requires.
private enum LowercaseHex {
    static func parse(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return value
    }

    static func write(_ value: UInt64, into buffer: UnsafeMutableBufferPointer<UInt8>, at start: Int) {
        for index in 0..<16 {
            let digit = UInt8(truncatingIfNeeded: value >> (60 - 4 * index)) & 15
            buffer[start + index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        }
    }
}
