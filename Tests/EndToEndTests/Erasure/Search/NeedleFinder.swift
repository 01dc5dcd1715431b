import Foundation

/// Finds any of many byte strings in one pass over the bytes that are searched.
struct NeedleFinder: Sendable {
    private struct Form: Sendable {
        let name: String
        let bytes: [UInt8]
    }

    private static let prefixLength = 4
    /// The forms by their first four bytes.
    private let forms: [UInt32: [Form]]
    /// Whether a form begins with two bytes, by their number: most positions are passed over with this alone.
    private let starts: [Bool]

    /// - Precondition: A form has at least eight bytes; a shorter one would be found by chance.
    init(_ needles: [Needle]) {
        var forms: [UInt32: [Form]] = [:]
        var starts = [Bool](repeating: false, count: 1 << 16)
        for needle in needles {
            for bytes in needle.forms {
                precondition(bytes.count >= 8, "\(needle.name) is too short to be searched for")
                let prefix = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
                forms[prefix, default: []].append(Form(name: needle.name, bytes: bytes))
                starts[Int(bytes[0]) << 8 | Int(bytes[1])] = true
            }
        }
        self.forms = forms
        self.starts = starts
    }

    /// Returns the names of the needles that the bytes contain.
    func names(in bytes: [UInt8]) -> Set<String> {
        var found: Set<String> = []
        bytes.withUnsafeBytes { bytes in
            starts.withUnsafeBufferPointer { starts in
                var index = 0
                while index + Self.prefixLength <= bytes.count {
                    if starts[Int(bytes[index]) << 8 | Int(bytes[index + 1])] {
                        let prefix = bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)
                        for form in forms[prefix] ?? [] where Self.matches(form.bytes, bytes, at: index) { found.insert(form.name) }
                    }
                    index += 1
                }
            }
        }
        return found
    }

    private static func matches(_ form: [UInt8], _ bytes: UnsafeRawBufferPointer, at index: Int) -> Bool {
        guard form.count <= bytes.count - index, let start = bytes.baseAddress else { return false }
        return form.withUnsafeBytes { memcmp($0.baseAddress!, start + index, $0.count) == 0 }
    }
}
