/// The names in a source.
struct SourceTokens {
    /// The label of a first argument that has none.
    static let noLabel = "_:"
    /// Instead of a label, for a name that is not called where it stands.
    static let noCall = ""

    private(set) var all: Set<String> = []
    /// What stands before the dots of each name: a name, that of a function or type whose call it is, or nothing.
    private(set) var receivers: [String: Set<String>] = [:]
    /// The names that stand without a value before them, but for `self`: a type's own.
    private(set) var bare: Set<String> = []
    /// The labels of the first arguments of the calls of each name.
    private(set) var labels: [String: Set<String>] = [:]
    /// The types, or functions, that stand for more than the call of a member of what they make.
    private(set) var kept: Set<String> = []

    init(_ source: String) {
        let bytes = Array(source.utf8)
        var (word, last, receiver): ([UInt8], String, String?) = ([], "", nil)
        var callees: [String] = []
        for (index, byte) in (bytes + [0x20]).enumerated() {
            if Self.isPartOfName(byte) {
                word.append(byte)
                continue
            }
            if !word.isEmpty {
                last = String(decoding: word, as: UTF8.self)
                all.insert(last)
                if let receiver { receivers[last, default: []].insert(receiver) }
                if ["", "self", "Self"].contains(receiver ?? "") { bare.insert(last) }
                labels[last, default: []].insert(byte == 0x28 ? Self.label(in: bytes[(index + 1)...]) : Self.noCall)
                if byte != 0x28, byte != 0x2E { kept.insert(last) }
                word = []
            }
            receiver = byte == 0x2E ? last : nil
            switch byte {
            case 0x28: callees.append(last)
            case 0x29:
                last = callees.popLast() ?? ""
                if index + 1 >= bytes.count || bytes[index + 1] != 0x2E { kept.insert(last) }
            default: last = ""
            }
        }
    }

    private static func isPartOfName(_ byte: UInt8) -> Bool {
        byte == 0x5F || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    /// Returns the label of the first of some arguments, or of a parameter: a name with a colon.
    private static func label(in arguments: ArraySlice<UInt8>) -> String {
        let text = arguments.drop { $0 == 0x20 || $0 == 0x0A }
        if text.first == 0x29 { return ")" }
        let name = text.prefix(while: isPartOfName)
        return !name.isEmpty && text.dropFirst(name.count).first == 0x3A ? String(decoding: name, as: UTF8.self) + ":" : noLabel
    }

    /// Returns what can be the label of the first argument in a call of the function that a text declares: a parameter with a default may
    /// be left out.
    static func labels(ofFunction text: String) -> [String] {
        var found: [String] = []
        var (depth, parameter): (Int, [UInt8]) = (0, [])
        for byte in text.utf8.drop(while: { $0 != 0x28 }).dropFirst() {
            if depth == 0, byte == 0x2C || byte == 0x29 {
                let words = parameter.split { !isPartOfName($0) }
                guard let name = words.first else { return found + [")"] }
                found.append(String(decoding: name, as: UTF8.self) + ":")
                if !parameter.contains(0x3D) { return found }
                if byte == 0x29 { return found + [")"] }
                parameter = []
                continue
            }
            if [0x28, 0x5B].contains(byte) { depth += 1 }
            if [0x29, 0x5D].contains(byte) { depth -= 1 }
            parameter.append(byte)
        }
        return found
    }
}
