/// A check of parsers of untrusted input, which must hold for every input.
///
/// Two runners share the targets: libFuzzer searches for inputs that break one (`make fuzz`), and ``CorpusTests`` replays the inputs that
/// are kept. A check uses no clock, no randomness and no state from earlier inputs, so that an input alone reproduces its result.
struct FuzzTarget: Sendable {
    /// The name: that of the folder in `Tests/Corpus`.
    let name: String
    /// Throws ``Disagreement``, or traps, when the parsers do not do what they must with an input.
    let check: @Sendable ([UInt8]) throws -> Void

    /// All targets.
    static let all: [FuzzTarget] = [
        multipart, json, jsonStream, base64, headers, images, tokens, times, challenges, proofs, emails, envelopes, answers,
    ]
}

/// A property that an input breaks.
struct Disagreement: Error, CustomStringConvertible {
    let description: String
}

/// Throws a ``Disagreement`` unless a property holds.
func require(_ holds: Bool, _ property: @autoclosure () -> String) throws {
    guard holds else { throw Disagreement(description: property()) }
}

/// Throws a ``Disagreement`` unless two values are equal.
func requireEqual<Value: Equatable>(_ left: Value, _ right: Value, _ property: @autoclosure () -> String) throws {
    guard left == right else { throw Disagreement(description: "\(property()): \(left) and \(right)") }
}

/// Reads fields of an input that come before its text.
struct FuzzInput {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// What was not read yet.
    var bytes: [UInt8] { Array(rest) }

    /// What was not read yet as text, in which invalid UTF-8 is replaced, as HTTP libraries do it.
    var text: String { String(decoding: rest, as: UTF8.self) }

    /// Reads a byte; 0 at the end.
    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// Reads up to a line feed, which is dropped.
    mutating func line() -> String {
        let line = rest.prefix { $0 != UInt8(ascii: "\n") }
        rest = rest[line.endIndex...].dropFirst()
        return String(decoding: line, as: UTF8.self)
    }

    /// Reads the three lengths of chunks by which ``chunks(of:)`` cuts a body.
    mutating func cuts() -> Cuts { Cuts(lengths: [byte(), byte(), byte()].map { Int($0) + 1 }) }
}

/// The lengths of the chunks in which a body arrives.
struct Cuts {
    let lengths: [Int]

    /// Returns the body in chunks of these lengths, again and again.
    func chunks(of body: [UInt8]) -> [ArraySlice<UInt8>] {
        var chunks: [ArraySlice<UInt8>] = []
        var rest = body[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(lengths[chunks.count % lengths.count])
            chunks.append(chunk)
            rest = rest[chunk.endIndex...]
        }
        return chunks
    }
}
